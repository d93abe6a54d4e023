/** Import it before LanceDB, which reads this variable as it loads, and else warns of each new index. The variable of the user wins. */
process.env.LANCEDB_LOG ??= 'error';
