import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { encryptedKeyStore } from './key-store.ts'
import { type Records, recordsInFolder, recordsInMemory } from './records.ts'

const newKey = () => randomBytes(32).toString('base64')
const CREDENTIALS = { apiKey: 'sk_live_secret', webhookSecret: 'whsec_secret' }

function folderRecords() {
  const folder = mkdtempSync(join(tmpdir(), 'key-store-'))
  whenDone(() => rmSync(folder, { recursive: true }))
  return { folder, records: recordsInFolder(join(folder, 'keys')) }
}

it.each<[string, () => Records]>([
  ['memory', recordsInMemory],
  ['a folder', () => folderRecords().records],
])('keeps, replaces and deletes the credentials of each workspace in %s', async (_, records) => {
  const store = encryptedKeyStore(records(), newKey())
  expect(await store.get('a')).toBeUndefined()
  expect(await store.all()).toEqual([])
  await store.put('a', CREDENTIALS)
  await store.put('b', { apiKey: 'b' })
  await store.put('b', { apiKey: 'b2' })
  expect(await store.get('a')).toEqual(CREDENTIALS)
  const all = await store.all()
  expect(all.map(({ workspaceId, apiKey }) => [workspaceId, apiKey]).toSorted()).toEqual([
    ['a', 'sk_live_secret'],
    ['b', 'b2'],
  ])
  await store.delete('a')
  await store.delete('a')
  expect(await store.get('a')).toBeUndefined()
})

it('writes no credentials in plaintext, in files that only this user can read', async () => {
  const { folder, records } = folderRecords()
  await encryptedKeyStore(records, newKey()).put('a', CREDENTIALS)
  expect(readdirSync(join(folder, 'keys'))).toEqual(['a.json'])
  const file = join(folder, 'keys', 'a.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const text = readFileSync(file, 'utf8')
  expect(`${text}${Buffer.from(text, 'base64')}`).not.toContain('secret')
})

it('deletes what a crash has left of the credentials, and nothing of another workspace', async () => {
  const { folder, records } = folderRecords()
  const store = encryptedKeyStore(records, newKey())
  for (const id of ['a', 'ab']) {
    await store.put(id, CREDENTIALS)
    copyFileSync(join(folder, 'keys', `${id}.json`), join(folder, 'keys', `${id}.json.draft`))
  }
  await store.delete('a')
  expect(readdirSync(join(folder, 'keys')).toSorted()).toEqual(['ab.json', 'ab.json.draft'])
})

it('opens credentials with a former encryption key and seals with the newest', async () => {
  const [records, old, next] = [recordsInMemory(), newKey(), newKey()]
  await encryptedKeyStore(records, old).put('a', CREDENTIALS)
  const both = encryptedKeyStore(records, `${next},${old}`)
  expect(await both.get('a')).toEqual(CREDENTIALS)
  await both.put('b', CREDENTIALS)
  expect(await encryptedKeyStore(records, next).get('b')).toEqual(CREDENTIALS)
  await expect(encryptedKeyStore(records, next).get('a')).rejects.toThrow('no encryption key opens')
})

it('a record that no key opens hides no other workspace from all()', async () => {
  const [records, key] = [recordsInMemory(), newKey()]
  await encryptedKeyStore(records, newKey()).put('a', CREDENTIALS)
  await encryptedKeyStore(records, key).put('b', CREDENTIALS)
  expect(await encryptedKeyStore(records, key).all()).toEqual([{ workspaceId: 'b', ...CREDENTIALS }])
  await expect(encryptedKeyStore(records, newKey()).all()).rejects.toThrow('no encryption key opens')
})

it('opens no credentials that were changed or moved to another workspace', async () => {
  const records = recordsInMemory()
  const store = encryptedKeyStore(records, newKey())
  await store.put('a', CREDENTIALS)
  const sealed = (await records.get('a')) ?? ''
  await records.set('b', sealed)
  await expect(store.get('b')).rejects.toThrow('no encryption key opens')
  await records.set('a', Buffer.from(sealed, 'base64').fill(0, 20, 21).toString('base64'))
  await expect(store.get('a')).rejects.toThrow('no encryption key opens')
})

it('refuses an encryption key that is none, without repeating it', () => {
  for (const text of ['', 'short', `${newKey()},`, newKey().slice(4)]) {
    expect(() => encryptedKeyStore(recordsInMemory(), text)).toThrow(
      /^an encryption key must be the base64 of 32 random/,
    )
  }
})

it('writes no file outside its folder', async () => {
  const { records } = folderRecords()
  for (const id of ['../a', '.', 'a/b', '']) await expect(async () => records.set(id, 'x')).rejects.toThrow('an id may')
})

it('reads few records at once, however many there are', async () => {
  const records = recordsInMemory()
  const key = newKey()
  for (let n = 0; n < 100; n++) await encryptedKeyStore(records, key).put(`w${n}`, CREDENTIALS)
  let [reading, most] = [0, 0]
  const counting: Records = {
    ...records,
    async get(id) {
      most = Math.max(most, ++reading)
      await new Promise(setImmediate)
      reading--
      return records.get(id)
    },
  }
  expect(await encryptedKeyStore(counting, key).all()).toHaveLength(100)
  expect(most).toBeLessThanOrEqual(16)
})
