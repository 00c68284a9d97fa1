# bash and coreutils over the tree $1; prints what must not depend on the allocator.
set -euo pipefail
tree=$1

echo "== hashes"
cd "$tree"
find . -type f -print0 | sort -z | xargs -0 -n 200 sha256sum |
	awk '{ print substr($1, 1, 12), $2 }' > "$OLDPWD/hashes"
cd "$OLDPWD"
sha256sum hashes
wc hashes

echo "== tar"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf all.tar -C "$tree" .
mkdir out
tar -xf all.tar -C out
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf all.tar.gz -C out .
gzip -dc all.tar.gz | cmp - all.tar

echo "== copy"
cp -a "$tree" copy
diff -r copy out
for file in copy/d0[0-4]/e1/*.txt; do echo "another line" >> "$file"; done
diff -r copy "$tree" > changes || true
grep -c 'another line' changes

echo "== words"
find copy -name '*.txt' -print0 | sort -z | xargs -0 cat > text
grep -ro 'nacre [a-z]* [a-z]*' copy | cut -d: -f2 | sort | uniq -c | sort -k1,1rn -k2 | sed -n 1,10p
tr ' ' '\n' < text | sort | uniq -c | sort -k1,1rn -k2 | sed -n 1,40p
sort -t' ' -k8,8n -k1,1 text | sha256sum
sort -S 4M -T . text | uniq | sha256sum
sed -E 's/([a-z]+) ([a-z]+)/\2-\1/g; s/[0-9]{3}$/###/' text | sha256sum
awk '{ for (i = 1; i < NF; i++) { n[$i]++; s[$i] += $NF } }
	END { for (w in n) print w, n[w], s[w] }' text | sort
find copy -type f -printf '%P %s\n' | sort | join - <(find "$tree" -type f -printf '%P %s\n' | sort) |
	awk '$2 != $3' | wc -l
split -l 10000 text part.
cat part.* | cmp - text
paste -d, part.aa part.ab | tac | rev | fold -w 60 | md5sum

echo "== bash"
declare -A seen=()
declare -a list=()
n=0
while read -r one two _; do
	seen[$one$two]=$((${seen[$one$two]:-0} + 1))
	list+=("${one^^}/${two//e/E}")
	((++n < 30000)) || break
done < text
for key in "${!seen[@]}"; do echo "$key ${seen[$key]}"; done | sort | sha256sum
printf '%s\n' "${list[@]: -3}" "${#seen[@]}" "${#list[@]}"
for i in {1..150}; do (x=$(printf '%0*d' "$i" "$i"); echo "${#x}"); done | paste -sd+ | md5sum
rm -r copy out
