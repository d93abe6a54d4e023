#!/bin/sh
cat /app/logs/*.log | awk '$2 == "ERROR" { print $3 }' | sort | uniq -c | awk '{ print $2, $1 }' > /app/errors.txt
