import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where an app keeps texts by the id of the workspace. A database has a table for it. */
export interface Records {
  get(id: string): Promise<string | undefined>
  /** Replaces what is there. */
  set(id: string, text: string): Promise<void>
  /** Does nothing when nothing is there. */
  delete(id: string): Promise<void>
  ids(): Promise<string[]>
}

/** Keeps records in this process, for tests. */
export function recordsInMemory(): Records {
  const texts = new Map<string, string>()
  return {
    get: async (id) => texts.get(id),
    set: async (id, text) => void texts.set(id, text),
    delete: async (id) => void texts.delete(id),
    ids: async () => [...texts.keys()],
  }
}

const FILE = /^([\w-]{1,128})\.json$/

/** Keeps each record as a file that only this user can read. A crash leaves the old text or the new one. */
export function recordsInFolder(folder: string): Records {
  const pathOf = (id: string) => {
    const name = `${id}.json`
    if (!FILE.test(name)) throw new Error('an id may have letters, digits, - and _ only')
    return join(folder, name)
  }
  /** Those that are being written. */
  const drafts = new Set<string>()
  return {
    get: (id) => readFile(pathOf(id), 'utf8').catch(ifMissing(undefined)),
    async set(id, text) {
      const path = pathOf(id)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const draft = `${path}.${randomUUID()}`
      drafts.add(draft)
      try {
        await writeFile(draft, text, { mode: 0o600, flush: true })
        await rename(draft, path)
      } finally {
        drafts.delete(draft)
      }
      await flushNames(folder)
    },
    async delete(id) {
      const path = pathOf(id)
      const names = await readdir(folder).catch(ifMissing<string[]>([]))
      // A crash may have left drafts.
      const found = names
        .map((name) => join(folder, name))
        .filter((file) => file === path || (file.startsWith(`${path}.`) && !drafts.has(file)))
      for (const file of found) await rm(file, { force: true })
      if (found.length > 0) await flushNames(folder)
    },
    ids: async () => (await readdir(folder).catch(ifMissing([]))).flatMap((name) => FILE.exec(name)?.[1] ?? []),
  }
}

/** Makes what the folder lists survive a crash, as `flush` does the content of a file. Windows cannot. */
async function flushNames(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const opened = await open(folder)
  await opened.sync().finally(() => opened.close())
}

const ifMissing =
  <Value>(value: Value) =>
  (error: NodeJS.ErrnoException): Value => {
    if (error.code === 'ENOENT') return value
    throw error
  }
