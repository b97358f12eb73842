import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openIncoming } from './incoming-files.ts'
import type { AssetStorage } from './storage.ts'

/** Keeps files in a directory of this machine or of a network file system. */
export function localStorage(root: string): AssetStorage {
  const directory = resolve(root)
  // In the same file system, so that a file gets its place by being renamed: it is there whole or not at all.
  const incoming = join(directory, 'incoming')
  const place = (path: string) => join(directory, path)
  return {
    name: 'assets',
    incoming,
    start: () => openIncoming(incoming),
    async put(path, file) {
      const target = place(path)
      await mkdir(dirname(target), { recursive: true })
      await sync(file)
      const { size } = await stat(file)
      await rename(file, target)
      // A name is kept in its folder, and that one's in its own.
      for (const folder of [dirname(target), dirname(dirname(target)), directory]) await sync(folder)
      return size
    },
    size: (path) =>
      stat(place(path)).then(
        ({ size }) => size,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return undefined
          throw error
        },
      ),
    async read(path, range) {
      return createReadStream(place(path), range)
    },
    async remove(paths) {
      for (const path of paths) await rm(place(path), { force: true })
    },
  }
}

/** Waits until the disk has a file or folder. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
