#!/bin/sh
. /tests/points.sh
printf 'bolt,3\nnail,3\nnut,2\n' > /tmp/expected
points /app/stock.csv /tmp/expected
