#!/bin/sh
sort /app/shelf/* | uniq -c | awk '{ print $2 "," $1 }' > /app/stock.csv
