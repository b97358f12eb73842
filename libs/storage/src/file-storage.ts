import type { Readable } from 'node:stream'
import type { Component } from '@backoffice/runtime/component.ts'

/** Both ends are included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Storage of files, which never change. Throws `service_unavailable` while it is out of reach or full. */
export interface FileStorage extends Component {
  /** A local folder for files that are being received. */
  readonly incoming: string
  /**
   * Stores a local file, which may be moved, and returns its size: no crash loses it then. All or nothing. Throws when
   * `signal` is aborted before.
   */
  put(path: string, file: string, type: string, signal?: AbortSignal): Promise<number>
  /** The size of a stored file in bytes; undefined when there is none. */
  size(path: string): Promise<number | undefined>
  /** Reads a file, or a range of it. Read the stream to its end or destroy it. Throws when there is no such file. */
  read(path: string, range?: ByteRange): Promise<Readable>
  /** Removes files; a missing file is no error. */
  remove(paths: readonly string[]): Promise<void>
  /** The number of files in a folder and the folders below it, counted up to `atMost`. */
  countFiles(folder: string, atMost: number): Promise<number>
  /** Removes a folder with all its files; a missing folder is no error. */
  removeFolder(folder: string): Promise<void>
}
