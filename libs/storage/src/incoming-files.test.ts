import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it, vi } from 'vitest'
import { newFolder, openIncoming, receive } from './incoming-files.ts'
import { localStorage } from './local-storage.ts'

let incoming = ''
beforeEach(async () => {
  incoming = join(mkdtempSync(join(tmpdir(), 'backoffice-storage-')), 'incoming')
  await openIncoming(incoming)
  whenDone(() => rmSync(join(incoming, '..'), { recursive: true }))
})

async function inNewFolder<Result>(incoming: string, work: (folder: string) => Promise<Result>): Promise<Result> {
  await using folder = await newFolder(incoming)
  return await work(folder.path)
}

it('a stream arrives whole in a file, and its first bytes apart', async () => {
  const received = await inNewFolder(incoming, async (folder) => {
    const file = join(folder, 'source')
    const { size, head } = await receive(Readable.from([Buffer.from('abc'), Buffer.from('defg')]), file, 5)
    return { size, head: head.toString(), content: readFileSync(file, 'utf8') }
  })
  expect(received).toEqual({ size: 7, head: 'abcde', content: 'abcdefg' })
  expect(readdirSync(incoming)).toEqual([])
})

it('a stream that breaks leaves nothing behind', async () => {
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('abc')
      throw new Error('cut off')
    })(),
  )
  const receiving = inNewFolder(incoming, (folder) => receive(broken, join(folder, 'source'), 5))
  await expect(receiving).rejects.toThrow('cut off')
  expect(readdirSync(incoming)).toEqual([])
})

it('a start removes what a killed process left behind over four hours ago, and nothing that grows', async () => {
  const hours = Date.now() / 1000 - 4 * 3600
  const made = (name: string, folderAt: number, fileAt: number) => {
    const folder = join(incoming, name)
    mkdirSync(folder)
    writeFileSync(join(folder, 'source'), 'x')
    utimesSync(join(folder, 'source'), fileAt, fileAt)
    utimesSync(folder, folderAt, folderAt)
  }
  made('upload-old', hours - 1, hours - 1)
  made('upload-young', hours + 60, hours + 60)
  made('upload-slow', hours - 3600, hours + 60)
  mkdirSync(join(incoming, 'upload-empty'))
  await openIncoming(incoming)
  expect(readdirSync(incoming).sort()).toEqual(['upload-empty', 'upload-slow', 'upload-young'])
})

it('what was too young at the start is removed before a later file is received', async () => {
  mkdirSync(join(incoming, 'upload-killed'))
  await openIncoming(incoming)
  expect(readdirSync(incoming)).toEqual(['upload-killed'])
  const hours = Date.now() / 1000 - 5 * 3600
  utimesSync(join(incoming, 'upload-killed'), hours, hours)
  await using folder = await newFolder(incoming)
  expect(readdirSync(incoming)).toEqual([basename(folder.path)])
})

it('goes by the clock of the disk, whatever that of the host says', async () => {
  mkdirSync(join(incoming, 'upload-young'))
  vi.setSystemTime(Date.now() + 5 * 3_600_000)
  whenDone(() => vi.useRealTimers())
  await using folder = await newFolder(incoming)
  await openIncoming(incoming)
  expect(readdirSync(incoming).sort()).toEqual(['upload-young', basename(folder.path)].sort())
})

const full = { code: 'service_unavailable', message: 'There is no room for the file now; try again later' }

/** The folder of a disk that has no room beside what a killed process left there so many hours ago. */
function onFullDisk(hours: number): string | undefined {
  // The disk itself, the folder, and what was left.
  const directory = smallDisk(3)
  if (directory === undefined) return undefined
  const left = join(directory, 'incoming', 'upload-left')
  mkdirSync(left, { recursive: true })
  const seconds = Date.now() / 1000 - hours * 3600
  utimesSync(left, seconds, seconds)
  return join(directory, 'incoming')
}

it('a start on a full disk removes what was left behind, and goes on without room for a folder', async (test) => {
  const [old, young] = [onFullDisk(5), onFullDisk(1)]
  if (old === undefined || young === undefined) return test.skip('needs the right to mount')
  for (const folder of [old, young]) await openIncoming(folder)
  expect([old, young].map((folder) => readdirSync(folder))).toEqual([[], ['upload-left']])
})

it('what was left behind makes room for a new folder; without any a file is refused', async (test) => {
  const [old, young] = [onFullDisk(5), onFullDisk(1)]
  if (old === undefined || young === undefined) return test.skip('needs the right to mount')
  {
    await using folder = await newFolder(old)
    expect(readdirSync(old)).toEqual([basename(folder.path)])
  }
  await expect(newFolder(young)).rejects.toMatchObject({ ...full, cause: { code: 'ENOSPC' } })
})

/** Mounts a disk of 1 MiB with room for `files` files and folders; undefined where this machine does not allow it. */
function smallDisk(files: number): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-disk-'))
  whenDone(() => rmSync(directory, { recursive: true }))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=1m,nr_inodes=${files}`, 'tmpfs', directory], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  whenDone(() => execFileSync('umount', ['-l', directory]))
  return directory
}

it('a full disk while receiving is service_unavailable with the cause, and leaves nothing behind', async (test) => {
  const directory = smallDisk(100) ?? test.skip('needs the right to mount')
  const { incoming, start } = localStorage({ name: 'files', directory })
  await start?.()
  const large = Readable.from([Buffer.alloc(600_000), Buffer.alloc(600_000)])
  const receiving = inNewFolder(incoming, (folder) => receive(large, join(folder, 'source'), 5))
  await expect(receiving).rejects.toMatchObject({ ...full, cause: { code: 'ENOSPC' } })
  expect(readdirSync(incoming)).toEqual([])
})

it('a full disk while storing is service_unavailable with the cause, and leaves nothing behind', async (test) => {
  const directory = smallDisk(5) ?? test.skip('needs the right to mount')
  const storage = localStorage({ name: 'files', directory })
  await storage.start?.()
  const storing = inNewFolder(storage.incoming, async (folder) => {
    await receive(Readable.from([Buffer.from('abc')]), join(folder, 'source'), 5)
    return storage.put('a/b/c', join(folder, 'source'), 'text/plain')
  })
  await expect(storing).rejects.toMatchObject({ ...full, cause: { code: 'ENOSPC' } })
  expect(await storage.size('a/b/c')).toBeUndefined()
  expect(readdirSync(storage.incoming)).toEqual([])
})
