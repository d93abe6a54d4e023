#!/bin/sh
cat > /app/reverse.sh <<'END'
awk '{ line[NR] = $0 } END { for (n = NR; n > 0; n--) print line[n] }'
END
