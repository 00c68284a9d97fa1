# Hashes, strings, sorting, regular expressions, closures, and interpreter threads.
use strict;
use warnings;
use threads;
use Digest::SHA 'sha256_hex';

my $state = 42;
sub rnd { $state = ($state * 1103515245 + 12345) % 2147483648; return $state % $_[0]; }

my @words = map { join '', map { chr(97 + rnd(26)) } 1 .. 3 + rnd(9) } 1 .. 20000;
my %count;
$count{$words[rnd(20000)]} += rnd(10) for 1 .. 200000;
print "words: ", scalar(keys %count), " ", sha256_hex(join ',', map { "$_=$count{$_}" } sort keys %count), "\n";

my $text = join ' ', @words;
my $changed = ($text =~ s/([aeiou])([^aeiou ]+)/<$2$1>/g);
print "changed: $changed ", length($text), " ", sha256_hex($text), "\n";
my %by_vowels;
push @{ $by_vowels{ join '', $_ =~ /[aeiou]/g } }, $_ for @words;
print "vowels: ", scalar(keys %by_vowels), " ", (sort { @{ $by_vowels{$b} } <=> @{ $by_vowels{$a} } || $a cmp $b } keys %by_vowels)[0 .. 4], "\n";

my @tree = map { { id => $_, next => [ map { rnd(1000) } 1 .. rnd(6) ], name => "n$_" } } 1 .. 20000;
my $walk; $walk = sub { my ($at, $depth) = @_; return $depth ? length($tree[$at]{name}) + eval { my $s = 0; $s += $walk->($_, $depth - 1) for @{ $tree[$at]{next} }; $s } : 1; };
print "walk: ", $walk->(7, 6), "\n";
my @sorted = sort { $a->{name} cmp $b->{name} } grep { @{ $_->{next} } > 2 } @tree;
print "sorted: ", scalar(@sorted), " ", join(',', map { $_->{name} } @sorted[0 .. 5]), "\n";

my $big = '';
$big .= sprintf("%08x|", rnd(1 << 30)) x (1 + $_ % 3) for 1 .. 60000;
print "big: ", length($big), " ", sha256_hex($big), "\n";
undef $big;

my @threads = map { my $n = $_; threads->create(sub {
	my %h; $h{ $_ * $n % 4099 } .= "x$_" for 1 .. 30000;
	return sha256_hex(join ';', map { "$_:$h{$_}" } sort { $a <=> $b } keys %h);
}) } 1 .. 4;
print "thread: ", $_->join, "\n" for @threads;
