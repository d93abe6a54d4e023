#!/bin/sh
# The program is the agent's. It runs as a user who may not write the reward.
passed=0
for lines in 'a' 'b\na' '3 3\n2  2\n1 \\\\'; do
  printf "$lines\n" > /tmp/given
  printf "$lines\n" | awk '{ line[NR] = $0 } END { for (n = NR; n > 0; n--) print line[n] }' > /tmp/expected
  su nobody -c 'sh /app/reverse.sh' < /tmp/given > /tmp/printed 2>/dev/null
  cmp -s /tmp/printed /tmp/expected && passed=$((passed + 1))
done
awk "BEGIN { print $passed / 3 }" > /logs/verifier/reward.txt
