/* Libraries that allocate as they are loaded and as they are unloaded, and blocks
 * that their host and they free for one another. Compiled twice. */
#include "../testing.h"

#include <pthread.h>

#ifdef PLUGIN
static void *at_load;

__attribute__((constructor)) static void load(void)
{
	at_load = malloc(3000);
	free(malloc(100000));
}

__attribute__((destructor)) static void unload(void)
{
	free(at_load);
	free(malloc(48));
}

void *plugin_get(size_t bytes);
void plugin_put(void *block);

void *plugin_get(size_t bytes)
{
	return memset(malloc(bytes), 1, bytes);
}

void plugin_put(void *block)
{
	free(block);
}
#else
static const char *library;

static void *work(void *rounds)
{
	for (size_t i = 0; i < *(size_t *)rounds; i++) {
		void *handle = dlopen(library, i % 2 ? RTLD_NOW : RTLD_NOW | RTLD_GLOBAL);
		if (!handle)
			printf("%s\n", dlerror());
		CHECK(handle);
		void *(*get)(size_t) = (void *(*)(size_t))dlsym(handle, "plugin_get");
		void (*put)(void *) = (void (*)(void *))dlsym(handle, "plugin_put");
		void *theirs = get(i * 37 % 5000 + 1), *ours = malloc(i % 300 + 1);

		put(ours);
		CHECK(!dlclose(handle));
		free(theirs);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	size_t rounds = 200;

	CHECK(argc > 1);
	library = argv[1];
	work(&rounds);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, &rounds));
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	return 0;
}
#endif
