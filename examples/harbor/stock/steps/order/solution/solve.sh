#!/bin/sh
awk -F, 'NR == FNR { have[$1] = $2; next } $2 > have[$1] { print $1 "," $2 - have[$1] }' /app/stock.csv /app/wanted.csv > /app/order.csv
