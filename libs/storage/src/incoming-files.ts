import { createWriteStream } from 'node:fs'
import { mkdir, mkdtempDisposable, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isNoRoom, throwNoRoom } from './storage-errors.ts'

/** Other processes may use the folder: what they receive, however slowly, and write grows more often than this. */
const LEFT_BEHIND_AFTER_MS = 4 * 3_600_000

/**
 * Makes the folder for incoming files, and removes the files of killed processes from it. On a full disk the process
 * starts as well: what it cannot receive is refused then.
 */
export async function openIncoming(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    await using own = await makeFolder(folder)
    await removeLeftBehind(folder, await timeOf(own.path))
  } catch (error) {
    if (!isNoRoom(error)) throw error
  }
}

/** On a full disk it makes room first: by the clock of the host, since no folder has a time of the disk. */
function makeFolder(incoming: string) {
  const make = () => mkdtempDisposable(join(incoming, 'upload-'))
  return make().catch(async (error) => {
    if (!isNoRoom(error)) throw error
    await removeLeftBehind(incoming, Date.now()).catch(() => undefined)
    return make()
  })
}

/** The folders may be on another machine, whose clock writes their times: that of one which was just made is now. */
const timeOf = async (justMade: string) => (await stat(justMade)).mtimeMs

async function removeLeftBehind(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const left = join(folder, name)
    if (now - (await lastWriteTo(left)) > LEFT_BEHIND_AFTER_MS) await rm(left, { recursive: true, force: true })
  }
}

/** When something was last written to a folder or to its files. What another process is removing counts as old. */
async function lastWriteTo(folder: string): Promise<number> {
  const files = await readdir(folder).catch(() => [])
  const paths = [folder, ...files.map((name) => join(folder, name))]
  const times = paths.map((path) =>
    stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  )
  return Math.max(...(await Promise.all(times)))
}

/**
 * Makes a folder of one's own: `await using` removes it in the end, also after a failure. It also removes what was left
 * behind: a process that is started again at once finds it too young. Throws `service_unavailable` on a full disk.
 */
export async function newFolder(incoming: string) {
  const own = await makeFolder(incoming).catch(throwNoRoom)
  // What cannot be removed fails the next start, and no upload.
  await timeOf(own.path)
    .then((now) => removeLeftBehind(incoming, now))
    .catch(() => undefined)
  return own
}

/**
 * Writes a stream to a new file. Returns its size and its first `headBytes` bytes. Throws the stream's error, and
 * `service_unavailable` when the disk is full.
 */
export async function receive(
  content: Readable,
  file: string,
  headBytes: number,
): Promise<{ size: number; head: Buffer }> {
  let size = 0
  let head = Buffer.alloc(0)
  await pipeline(
    content,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        size += chunk.length
        if (head.length < headBytes) head = Buffer.concat([head, chunk.subarray(0, headBytes - head.length)])
        yield chunk
      }
    },
    createWriteStream(file, { flags: 'wx', mode: 0o600 }),
  ).catch(throwNoRoom)
  return { size, head }
}
