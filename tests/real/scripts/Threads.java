// Threads, parallel streams, native memory (direct buffers, zip), and class loading.
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import java.util.zip.*;

public class Threads {
	static String hash(byte[] data) throws Exception {
		byte[] d = MessageDigest.getInstance("SHA-256").digest(data);
		return HexFormat.of().formatHex(d, 0, 8);
	}

	static String work(int number) throws Exception {
		Random random = new Random(number);
		Map<String, List<Integer>> map = new TreeMap<>();
		for (int i = 0; i < 60000; i++)
			map.computeIfAbsent("k" + random.nextInt(5000), k -> new ArrayList<>()).add(i);
		byte[] text = map.toString().getBytes("UTF-8");

		Deflater deflater = new Deflater(6);
		deflater.setInput(text);
		deflater.finish();
		byte[] packed = new byte[text.length + 100];
		int length = deflater.deflate(packed);
		deflater.end();
		Inflater inflater = new Inflater();
		inflater.setInput(packed, 0, length);
		byte[] again = new byte[text.length];
		inflater.inflate(again);
		inflater.end();

		long sum = 0;
		for (int i = 0; i < 200; i++) {
			ByteBuffer direct = ByteBuffer.allocateDirect(1 + random.nextInt(100000));
			direct.put(direct.capacity() - 1, (byte) i);
			sum += direct.get(direct.capacity() - 1) + direct.capacity();
		}
		return number + " " + hash(text) + " " + hash(again) + " " + sum;
	}

	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(8);
		List<Future<String>> results = new ArrayList<>();
		for (int i = 0; i < 24; i++) {
			final int number = i;
			results.add(pool.submit(() -> work(number)));
		}
		for (Future<String> result : results)
			System.out.println(result.get());
		pool.shutdown();

		System.out.println(IntStream.range(0, 2000000).parallel().mapToLong(i -> (i * 2654435761L) >>> 7).sum());
		System.out.println(IntStream.range(0, 200000).parallel().mapToObj(i -> "s" + i % 777)
			.collect(Collectors.groupingByConcurrent(s -> s, ConcurrentSkipListMap::new, Collectors.counting())).hashCode());
		List<Thread> many = new ArrayList<>();
		long[] total = new long[200];
		for (int i = 0; i < total.length; i++) {
			final int number = i;
			Thread thread = new Thread(() -> { for (String s : "a,b,c,d".repeat(50).split(",")) total[number] += s.hashCode(); });
			thread.start();
			many.add(thread);
		}
		for (Thread thread : many)
			thread.join();
		System.out.println(LongStream.of(total).sum());
	}
}
