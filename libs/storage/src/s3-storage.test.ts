import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startS3Server } from '@backoffice/testing/servers/s3-server.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it, vi } from 'vitest'
import type { FileStorage } from './file-storage.ts'
import { openStorage } from './open-storage.ts'
import { S3Storage } from './s3-storage.ts'

const MIB = 1024 * 1024
const directory = mkdtempSync(join(tmpdir(), 'backoffice-s3-'))
whenDone(() => rmSync(directory, { recursive: true }))
mkdirSync(join(directory, 'buckets', 'files'), { recursive: true })
const s3 = await startS3Server({ directory })
whenDone(() => s3.stop())
const server = {
  S3_ENDPOINT: s3.url,
  S3_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: s3.accessKey,
  AWS_SECRET_ACCESS_KEY: s3.secretKey,
}
const bucket = openStorage({ name: 'files', bucket: 'files', directory: undefined }, server)
const folder = openStorage({ name: 'files', bucket: undefined, directory: join(directory, 'files') }, server)
for (const storage of [bucket, folder]) {
  await storage.start?.()
  whenDone(() => storage.stop?.())
}

/** Stores a file with this content; returns what `put` does. */
function store(storage: FileStorage, path: string, content: string, size = content.length) {
  const file = join(storage.incoming, `${process.pid}-source`)
  writeFileSync(file, content)
  truncateSync(file, size)
  return storage.put(path, file, 'text/csv')
}

it.each([
  ['a bucket', bucket],
  ['a directory', folder],
])('%s gives back a whole file, or a range of it, until it is removed', async (_where, storage) => {
  expect(await store(storage, 'a/b/c.csv', '0123456789')).toBe(10)
  expect(await storage.size('a/b/c.csv')).toBe(10)
  expect((await buffer(await storage.read('a/b/c.csv'))).toString()).toBe('0123456789')
  expect((await buffer(await storage.read('a/b/c.csv', { start: 2, end: 4 }))).toString()).toBe('234')
  await storage.remove(['a/b/c.csv', 'a/b/missing.csv'])
  expect(await storage.size('a/b/c.csv')).toBeUndefined()
  await expect(storage.read('a/b/c.csv')).rejects.not.toHaveProperty('code', 'service_unavailable')
})

it.each([
  ['a bucket', bucket],
  ['a directory', folder],
])('%s counts the files of a folder, and removes it without its neighbours', async (_where, storage) => {
  for (const path of ['own/a/1.csv', 'own/a/2.csv', 'own/b/3.csv', 'own-2/a/4.csv']) await store(storage, path, 'x')
  expect([await storage.countFiles('own', 100), await storage.countFiles('own', 2)]).toEqual([3, 2])
  for (let again = 0; again < 2; again++) await storage.removeFolder('own')
  expect([await storage.countFiles('own', 100), await storage.countFiles('own-2', 100)]).toEqual([0, 1])
})

it('a bucket counts more files than a server names in one answer', async () => {
  const many = join(directory, 'buckets', 'files', 'many')
  mkdirSync(many)
  for (let file = 0; file < 1002; file++) writeFileSync(join(many, `${file}.csv`), '')
  expect([await bucket.countFiles('many', 10_000), await bucket.countFiles('many', 1001)]).toEqual([1002, 1001])
  await bucket.removeFolder('many')
  expect(await bucket.countFiles('many', 10_000)).toBe(0)
})

it('a download of which the rest does not come fails, and one that is read slowly does not', async () => {
  const content = Buffer.alloc(MIB, 'x')
  const hanging = createServer((request, response) => {
    response.writeHead(200, { 'content-length': content.length })
    if (request.url?.includes('half')) response.write(content.subarray(0, MIB / 2))
    else response.end(content)
  }).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  whenDone(() => hanging.closeAllConnections())
  whenDone(() => hanging.close())
  const { port } = hanging.address() as AddressInfo
  const silentMs = 300
  const storage = new S3Storage('files', 'files', { ...server, S3_ENDPOINT: `http://127.0.0.1:${port}` }, silentMs)
  whenDone(() => storage.stop())
  await expect(buffer(await storage.read('half'))).rejects.toMatchObject({ code: 'service_unavailable' })
  let read = 0
  for await (const chunk of await storage.read('whole')) {
    if (read === 0) await pause(2 * silentMs)
    read += chunk.length
  }
  expect(read).toBe(MIB)
  const left = await storage.read('half')
  left.destroy()
  await once(left, 'close')
})

it('an upload of which the server takes no more fails, and so does one that is given up', async () => {
  const hanging = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  whenDone(() => hanging.closeAllConnections())
  whenDone(() => hanging.close())
  const { port } = hanging.address() as AddressInfo
  const settings = { ...server, S3_ENDPOINT: `http://127.0.0.1:${port}` }
  const [impatient, patient] = [
    new S3Storage('files', 'files', settings, 300),
    new S3Storage('files', 'files', settings),
  ]
  whenDone(() => impatient.stop())
  whenDone(() => patient.stop())
  const unavailable = { code: 'service_unavailable' }
  await expect(store(impatient, 'left.csv', 'x', 64 * MIB)).rejects.toMatchObject(unavailable)
  const left = new AbortController()
  hanging.once('request', () => left.abort())
  const file = join(patient.incoming, `${process.pid}-source`)
  await expect(patient.put('left.csv', file, 'text/csv', left.signal)).rejects.toMatchObject(unavailable)
})

/** A storage whose server answers with `answer`. */
async function storageOf(answer: RequestListener, token?: string) {
  const fake = createServer(answer).listen(0, '127.0.0.1')
  await once(fake, 'listening')
  whenDone(() => fake.close())
  whenDone(() => fake.closeAllConnections())
  const { port } = fake.address() as AddressInfo
  const settings = { ...server, S3_ENDPOINT: `http://127.0.0.1:${port}`, AWS_SESSION_TOKEN: token }
  const storage = new S3Storage('files', 'files', settings)
  whenDone(() => storage.stop())
  return storage
}

it('a bucket answers while many downloads are read slowly', async () => {
  const storage = await storageOf((request, response) => {
    response.writeHead(200, { 'content-length': MIB })
    if (request.method === 'HEAD') response.end()
    else response.write('x')
  })
  const reads = await Promise.all(Array.from({ length: 50 }, (_, file) => storage.read(`${file}.csv`)))
  expect(await storage.size('other.csv')).toBe(MIB)
  for (const read of reads) read.destroy()
})

it('an upload is sent again when the server is busy or closes the connection, and not when it is refused', async () => {
  const warn = vi.spyOn(console, 'warn')
  whenDone(() => warn.mockRestore())
  const received: string[] = []
  const storage = await storageOf(async (request, response) => {
    received.push((await buffer(request)).toString())
    if (request.url?.includes('refused')) response.writeHead(403).end()
    else if (received.length === 1) response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
    else if (received.length === 2) response.destroy()
    else response.end()
  })
  expect(await store(bucket, 'again.csv', 'content')).toBe(7)
  const file = join(storage.incoming, `${process.pid}-source`)
  expect(await storage.put('again.csv', file, 'text/csv')).toBe(7)
  expect(received).toEqual(['content', 'content', 'content'])
  await expect(storage.put('refused.csv', file, 'text/csv')).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(received).toHaveLength(4)
  expect(warn).not.toHaveBeenCalled()
})

it('a temporary key is sent with its token, which is refused without the key', async () => {
  let sent: unknown
  const storage = await storageOf((request, response) => {
    sent = request.headers['x-amz-security-token']
    response.end()
  }, 'token')
  await storage.size('a.csv')
  expect(sent).toBe('token')
  const alone = { S3_ENDPOINT: s3.url, S3_REGION: 'us-east-1', AWS_SESSION_TOKEN: 'token' }
  expect(() => openStorage({ name: 'files', bucket: 'files', directory: undefined }, alone)).toThrow(
    'AWS_SESSION_TOKEN',
  )
})

it('a folder is not removed for ever while the server lists what it has removed', async () => {
  const storage = await storageOf((request, response) => {
    if (request.method === 'DELETE') response.writeHead(204).end()
    else response.end('<ListBucketResult><Contents><Key>own/1.csv</Key></Contents></ListBucketResult>')
  })
  await expect(storage.removeFolder('own')).rejects.toMatchObject({ code: 'service_unavailable' })
})

it('a bucket takes and gives a large file in little memory', async () => {
  const size = 32 * MIB
  const file = join(directory, 'large.csv')
  writeFileSync(file, 'a')
  truncateSync(file, size)
  const thread = new Worker(new URL('./testing/large-file-thread.ts', import.meta.url), {
    workerData: { server, bucket: 'files', file },
    execArgv: [],
  })
  whenDone(() => thread.terminate())
  const [answer] = await once(thread, 'message')
  expect(answer).toMatchObject({ size, read: size })
  expect(answer.used).toBeGreaterThan(0)
  expect(answer.used).toBeLessThan(16 * MIB)
})

it('a client that could not be made once is made at the next use', async () => {
  let reads = 0
  const brokenOnce = {
    ...server,
    get S3_REGION() {
      if (reads++ === 0) throw new Error('not yet')
      return server.S3_REGION
    },
  }
  const storage = new S3Storage('files', 'files', brokenOnce)
  whenDone(() => storage.stop())
  await expect(storage.size('never/stored.csv')).rejects.toThrow('not yet')
  expect(await storage.size('never/stored.csv')).toBeUndefined()
})
