/* A program for a compiler to work on: many headers, templates and lambdas. It prints
 * "right" when it was compiled right. -DSMALL leaves the heaviest headers out. */
#ifndef SMALL
#include <functional>
#include <iostream>
#include <random>
#include <regex>
#include <sstream>
#include <thread>
#include <unordered_map>
#include <variant>
#endif
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

template <int N> struct matrix {
	double at[N][N] = {};

	static matrix identity()
	{
		matrix result;
		for (int i = 0; i < N; i++)
			result.at[i][i] = 1;
		return result;
	}

	matrix operator*(const matrix &other) const
	{
		matrix result;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				for (int k = 0; k < N; k++)
					result.at[i][j] += at[i][k] * other.at[k][j];
		return result;
	}

	double trace() const
	{
		double sum = 0;
		for (int i = 0; i < N; i++)
			sum += at[i][i];
		return sum;
	}
};

/* Each size is compiled for itself. */
template <int... Sizes> bool traces_are_right(std::integer_sequence<int, Sizes...>)
{
	return ((((matrix<Sizes + 1>::identity() * matrix<Sizes + 1>::identity()).trace() ==
	          Sizes + 1)) &&
	        ...);
}

#ifndef SMALL
using value = std::variant<int, double, std::string, std::vector<int>>;

static std::string describe(const value &v)
{
	return std::visit(
		[](const auto &held) -> std::string {
			using T = std::decay_t<decltype(held)>;
			std::ostringstream text;
			if constexpr (std::is_same_v<T, std::vector<int>>)
				text << "list of " << held.size();
			else
				text << held;
			return text.str();
		},
		v);
}

static bool texts_are_right()
{
	std::map<std::string, std::set<int>> places;
	std::unordered_map<std::string, std::function<int(int)>> functions;
	const std::string text = "one 1 two 2 three 3 two 4";
	const std::regex pair("([a-z]+) ([0-9]+)");
	for (std::sregex_iterator it(text.begin(), text.end(), pair), end; it != end; ++it)
		places[(*it)[1]].insert(std::stoi((*it)[2]));
	for (const auto &[name, numbers] : places)
		functions[name] = [sum = std::accumulate(numbers.begin(), numbers.end(), 0)](
					  int more) { return sum + more; };
	return functions.at("two")(10) == 16 && describe(std::vector<int>{ 1, 2 }) == "list of 2" &&
	       describe(3) == "3" && describe(std::string("x")) == "x";
}

#else
static bool texts_are_right()
{
	return true;
}
#endif

static bool numbers_are_right()
{
	std::vector<std::unique_ptr<std::tuple<int, std::string>>> items;
	for (int i = 0; i < 1000; i++)
		items.push_back(std::make_unique<std::tuple<int, std::string>>(
			i * 7919 % 101, std::to_string(i)));
	std::stable_sort(items.begin(), items.end(), [](const auto &a, const auto &b) {
		return std::get<0>(*a) < std::get<0>(*b);
	});
#ifndef SMALL
	std::thread sorter([&] { std::reverse(items.begin(), items.end()); });
	sorter.join();
#else
	std::reverse(items.begin(), items.end());
#endif
	return std::is_sorted(items.begin(), items.end(), [](const auto &a, const auto &b) {
		return std::get<0>(*a) > std::get<0>(*b);
	});
}

int main()
{
	const bool right = traces_are_right(std::make_integer_sequence<int, 24>()) &&
	                   texts_are_right() && numbers_are_right();
	std::puts(right ? "right" : "wrong");
	return !right;
}
