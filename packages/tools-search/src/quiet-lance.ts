/** Import this file before LanceDB, which reads the variable as it loads. By default, LanceDB warns of each new index. The user's variable wins. */
process.env.LANCEDB_LOG ??= 'error';
