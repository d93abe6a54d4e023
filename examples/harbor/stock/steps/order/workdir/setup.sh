printf 'bolt,5\nnail,2\nnut,6\n' > wanted.csv
