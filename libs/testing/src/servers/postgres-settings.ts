const MIB = 1024 * 1024

/** Settings of a new PostgreSQL on a machine with so much memory (bytes), shared with Kafka and all services. */
export const postgresSettings = (memory: number) => ({
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300,
  // A new database grows by orders of magnitude within seconds: statistics, and with them cached plans, must keep up.
  autovacuum_naptime: '5s',
  // The default of 128 MB is less than the indexes of some hundred thousand products.
  shared_buffers: megabytes(memory / 8, 128, 2048),
  // Allocates nothing: an estimate for the planner of all memory that caches files, the system's cache included.
  effective_cache_size: megabytes(memory / 2, 512, 65_536),
  // For each sort of each statement.
  work_mem: megabytes(memory / 2048, 4, 16),
  // For each build of an index, and each of three autovacuum workers.
  maintenance_work_mem: megabytes(memory / 64, 64, 512),
  // With less, an import causes a checkpoint every few seconds, and each first change of a page after it logs the whole
  // page.
  max_wal_size: '2GB',
  // Compiling a statement takes longer than any statement of a request runs.
  jit: 'off',
})

/** A setting of so many bytes, in whole megabytes within these limits. */
const megabytes = (bytes: number, least: number, most: number): string =>
  `${Math.floor(Math.min(most, Math.max(least, bytes / MIB)))}MB`
