import type { Readable } from 'node:stream'
import type { Part } from '@backoffice/runtime/process.ts'

/** The bytes of a file to read, both ends included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Where uploaded files are kept. A file is never changed once it is there. Away, its methods throw `service_unavailable`. */
export interface AssetStorage extends Part {
  /** A folder of this machine for files that are being received. */
  readonly incoming: string
  /** Stores a file of this machine, which may be moved, and returns its size in bytes. No crash loses it after that. */
  put(path: string, file: string, type: string): Promise<number>
  /** The size of a stored file in bytes; undefined when there is none. */
  size(path: string): Promise<number | undefined>
  read(path: string, range: ByteRange): Promise<Readable>
  /** Removes files; one that is not there is no error. */
  remove(paths: readonly string[]): Promise<void>
}
