#!/bin/sh
. /tests/points.sh
printf 'bolt,2\nnut,4\n' > /tmp/expected
points /app/order.csv /tmp/expected
