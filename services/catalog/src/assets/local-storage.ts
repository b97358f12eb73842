import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openIncoming } from './incoming-files.ts'
import type { AssetStorage } from './storage.ts'

/** Keeps files in a directory of this machine or of a network file system. */
export function localStorage(root: string): AssetStorage {
  const directory = resolve(root)
  // In the same file system, so that a rename puts a file in its place at once: it is there completely or not at all.
  const incoming = join(directory, 'incoming')
  const pathOf = (path: string) => join(directory, path)
  return {
    name: 'assets',
    incoming,
    start: () => openIncoming(incoming),
    async put(path, file) {
      const target = pathOf(path)
      await mkdir(dirname(target), { recursive: true })
      await sync(file)
      const { size } = await stat(file)
      await rename(file, target)
      // The rename is durable once the folder is, and a new folder once its parent is.
      for (const folder of [dirname(target), dirname(dirname(target)), directory]) await sync(folder)
      return size
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
      return createReadStream(pathOf(path), range)
    },
    async remove(paths) {
      for (const path of paths) await rm(pathOf(path), { force: true })
    },
  }
}

/** Waits until a file or folder is written to the disk. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
