# Of all steps: writes the share of the lines of the file $1 that are as in the file $2.
points() {
  right=$(awk -v file="$1" 'BEGIN { while ((getline line < file) > 0) seen[line] = 1 } seen[$0] { n++ } END { print n + 0 }' "$2")
  all=$(cat "$1" "$2" 2>/dev/null | sort -u | wc -l)
  echo "{\"reward\": $(awk "BEGIN { print $right / $all }")}" > /logs/verifier/reward.json
}
