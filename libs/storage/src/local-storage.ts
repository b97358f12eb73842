import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { FileStorage } from './file-storage.ts'
import { openIncoming } from './incoming-files.ts'
import { throwNoRoom } from './storage-errors.ts'

/** Keeps files in a directory of this machine or of a network file system. */
export function localStorage({ name, directory }: { name: string; directory: string }): FileStorage {
  const root = resolve(directory)
  // In the same file system, so that a rename puts a file in its place at once: it is there completely or not at all.
  const incoming = join(root, 'incoming')
  const pathOf = (path: string) => join(root, path)
  return {
    name,
    incoming,
    start: () => openIncoming(incoming),
    async put(path, file, _type, signal) {
      signal?.throwIfAborted()
      return place(file, pathOf(path), root).catch(throwNoRoom)
    },
    size: (path) =>
      stat(pathOf(path)).then(
        ({ size }) => size,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return undefined
          throw error
        },
      ),
    async read(path, range) {
      // Opened before, so that a missing file fails the call and not the stream.
      const file = await open(pathOf(path), 'r')
      return file.createReadStream(range)
    },
    async remove(paths) {
      for (const path of paths) await rm(pathOf(path), { force: true })
    },
    async countFiles(folder, atMost) {
      let files = 0
      const entries = await opendir(pathOf(folder), { recursive: true }).catch(noneWithout)
      for await (const entry of entries) {
        if (entry.isFile()) files++
        if (files >= atMost) break
      }
      return files
    },
    removeFolder: (folder) => rm(pathOf(folder), { recursive: true, force: true }),
  }
}

/** No entries when there is no such folder. */
function noneWithout(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return []
  throw error
}

/** Moves a file to its place below `root`, and returns its size once no crash can lose it. */
async function place(file: string, target: string, root: string): Promise<number> {
  await mkdir(dirname(target), { recursive: true })
  await sync(file)
  const { size } = await stat(file)
  await rename(file, target)
  try {
    // The rename is durable once the folder is, and a new folder once its parent is.
    for (const folder of [dirname(target), dirname(dirname(target)), root]) await sync(folder)
  } catch (error) {
    await rm(target, { force: true })
    throw error
  }
  return size
}

/** Waits until a file or folder is written to the disk. */
async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}
