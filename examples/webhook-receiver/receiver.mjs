import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { link, open, readFile, unlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'

const { WEBHOOK_SECRET = '', PORT = '9999', INBOX = 'webhook-inbox' } = process.env
const TOLERANCE_S = 300
const MAX_BODY_BYTES = 8 * 1024 * 1024
const TRY_AGAIN_MS = 1000

/**
 * The work of your system for an event. Called until it succeeds: a second call must change nothing. It is not called
 * for an event that comes after a later one of the same resource, so go by `data` and not by `type`.
 */
async function handle({ type, id, livemode, data }) {
  // A test, or of a sandbox: nothing of it is real.
  if (!livemode) return console.log(`${id} is not live`)
  console.log(`${type} ${id}: ${data.name ?? data.id ?? ''}`)
}

const key = Buffer.from(WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64')
if (key.length === 0) {
  console.error('WEBHOOK_SECRET must hold the secret that creating the endpoint answered')
  process.exit(1)
}

/** Whether these bytes were signed with the secret in the last five minutes. One valid signature is enough. */
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_S)) return false
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('hex')
  const expected = Buffer.from(`v1,${digest}`)
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/*
 * The inbox is a folder. An event is a file <id>.json; a handled event also has a file <id>.done. A file name is
 * unique, as a key in your database is, and an accepted event survives a crash. <id of a resource>.latest says when the
 * newest event of the resource that was handled occurred.
 */
const pathOf = (name) => join(INBOX, name)
const NAME = /^[\w-]{1,100}$/
const waiting = new Set()
let drafts = 0

/** Stores an event so that it survives a crash. A stored event stays as it is. */
async function store(id, body) {
  const draft = pathOf(`${process.pid}-${++drafts}.draft`)
  const file = await open(draft, 'w')
  try {
    await file.writeFile(body)
    await file.sync()
    await link(draft, pathOf(`${id}.json`))
    waiting.add(id)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  } finally {
    await file.close()
    await unlink(draft)
  }
  await flushInbox()
}

/** Makes the names of the files survive a crash, as `sync` does their content. Windows cannot, and need not. */
async function flushInbox() {
  if (process.platform === 'win32') return
  const folder = await open(INBOX)
  await folder.sync().finally(() => folder.close())
}

/** Handles an event, unless a later one of its resource was handled: that one is right. */
async function handleNewest(event) {
  const { timestamp, data } = event
  const latest = NAME.test(data.id ?? '') ? pathOf(`${data.id}.latest`) : undefined
  // As times: not every timestamp has a fraction.
  if (latest && existsSync(latest) && Date.parse(timestamp) < Date.parse(await readFile(latest, 'utf8'))) return
  await handle(event)
  if (latest) await writeFile(latest, timestamp)
}

let isWorking = false

/** Handles the waiting events, one after the other. */
async function work() {
  if (isWorking) return
  isWorking = true
  for (const id of waiting) {
    try {
      await handleNewest(JSON.parse(await readFile(pathOf(`${id}.json`), 'utf8')))
      await writeFile(pathOf(`${id}.done`), '')
      waiting.delete(id)
    } catch (error) {
      console.error(`${id} failed and is tried again: ${error.message}`)
      setTimeout(work, TRY_AGAIN_MS)
    }
  }
  isWorking = false
}

/** The raw bytes of the body; undefined when there are too many. Reads them all, so that the answer arrives. */
async function bodyOf(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return bytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks)
}

/** Verifies and stores an event. Returns the status to answer, which is 200 only after the event is stored. */
async function receive(request) {
  if (request.method !== 'POST') return 405
  const body = await bodyOf(request)
  if (body === undefined) return 413
  const id = request.headers['webhook-id'] ?? ''
  if (!NAME.test(id) || !isGenuine(request.headers, body)) return 400
  await store(id, body)
  return 200
}

mkdirSync(INBOX, { recursive: true })
const names = new Set(readdirSync(INBOX))
for (const name of names) {
  const [id, end] = name.split('.')
  if (end === 'draft') rmSync(pathOf(name))
  if (end === 'json' && !names.has(`${id}.done`)) waiting.add(id)
}
work()

const server = createServer((request, response) => {
  receive(request).then(
    (status) => {
      response.writeHead(status).end()
      work()
    },
    (error) => {
      console.error(`not stored, so it must be sent again: ${error.message}`)
      response.writeHead(500).end()
    },
  )
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`receiving on http://127.0.0.1:${server.address().port}/`))
