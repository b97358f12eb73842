const MIB = 1024 * 1024

/** Settings of a new PostgreSQL on a machine with so many bytes of memory, which it shares with Kafka and all services. */
export const postgresSettings = (memory: number) => ({
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300,
  // A new database grows by orders of magnitude within seconds: statistics, and with them kept plans, have to follow.
  autovacuum_naptime: '5s',
  // The default of 128 MB is less than the indexes of some hundred thousand products.
  shared_buffers: megabytes(memory / 8, 128, 2048),
  // Not taken, only believed: what the system caches of files counts too.
  effective_cache_size: megabytes(memory / 2, 512, 65_536),
  // For each sort of each statement.
  work_mem: megabytes(memory / 2048, 4, 16),
  // For each build of an index, and each of three autovacuum workers.
  maintenance_work_mem: megabytes(memory / 64, 64, 512),
  // With less, an import starts a checkpoint every some seconds, after which each page is logged whole again.
  max_wal_size: '2GB',
  // Compiling a statement takes longer than any statement of a request runs.
  jit: 'off',
})

/** A setting of so many bytes, in whole megabytes within these limits. */
const megabytes = (bytes: number, least: number, most: number): string =>
  `${Math.floor(Math.min(most, Math.max(least, bytes / MIB)))}MB`
