import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Records } from './records.ts'

/** What the platform delivers to an app, once. Never log it. */
export interface Credentials {
  readonly apiKey: string
  /** Only when the manifest declares webhooks. */
  readonly webhookSecret?: string | undefined
}

/** The credentials of each workspace. */
export interface KeyStore {
  /**
   * Stores the credentials of a workspace. Replaces earlier ones: those work until the new ones are in force, so keep
   * them elsewhere until then, as docs/apps.md says.
   */
  put(workspaceId: string, credentials: Credentials): Promise<void>
  /** Undefined when none are stored. Throws when no encryption key decrypts them. */
  get(workspaceId: string): Promise<Credentials | undefined>
  delete(workspaceId: string): Promise<void>
  /** Those of every workspace but for records that no encryption key decrypts. Throws when none decrypts any. */
  all(): Promise<(Credentials & { readonly workspaceId: string })[]>
}

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const BATCH_SIZE = 16
const NOT_OPENED = 'no encryption key opens the credentials'

/**
 * Keeps credentials encrypted by AES-256-GCM, each bound to its workspace: a record that is moved to another workspace
 * does not open. `encryptionKeys` is base64 of 32 random bytes; to replace it put the new one before the old one, with
 * a comma. The first encrypts, all decrypt.
 */
export function encryptedKeyStore(records: Records, encryptionKeys: string): KeyStore {
  const keys = encryptionKeys.split(',').map(encryptionKey)
  const [newest] = keys as [Buffer]

  async function get(workspaceId: string): Promise<Credentials | undefined> {
    const text = await records.get(workspaceId)
    if (text === undefined) return undefined
    const credentials = open(keys, text, workspaceId)
    if (credentials === undefined) throw new Error(`${NOT_OPENED} of the workspace ${workspaceId}`)
    return credentials
  }
  return {
    get,
    put: (workspaceId, { apiKey, webhookSecret }) =>
      records.set(workspaceId, seal(newest, JSON.stringify({ apiKey, webhookSecret }), workspaceId)),
    delete: (workspaceId) => records.delete(workspaceId),
    async all() {
      const ids = await records.ids()
      const texts: { workspaceId: string; text: string | undefined }[] = []
      // A process may open few files at once, and a database has few connections.
      for (let next = 0; next < ids.length; next += BATCH_SIZE) {
        const some = ids.slice(next, next + BATCH_SIZE)
        texts.push(...(await Promise.all(some.map(async (id) => ({ workspaceId: id, text: await records.get(id) })))))
      }
      const stored = texts.flatMap(({ workspaceId, text }) => (text === undefined ? [] : [{ workspaceId, text }]))
      const found = stored.flatMap(({ workspaceId, text }) => {
        const credentials = open(keys, text, workspaceId)
        return credentials ? [{ workspaceId, ...credentials }] : []
      })
      // One workspace's record is its own trouble; a wrong encryption key is the app's.
      if (found.length === 0 && stored.length > 0) throw new Error(`${NOT_OPENED} of any workspace`)
      return found
    },
  }
}

/** Reads a key. The refusal does not repeat it. */
function encryptionKey(text: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length === KEY_BYTES && key.toString('base64') === text.trim()) return key
  throw new Error('an encryption key must be the base64 of 32 random bytes: openssl rand -base64 32')
}

function seal(key: Buffer, text: string, owner: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(owner))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

/** Undefined when no key opens them. */
function open(keys: readonly Buffer[], text: string, owner: string): Credentials | undefined {
  const sealed = Buffer.from(text, 'base64')
  for (const key of keys) {
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(owner))
        .setAuthTag(sealed.subarray(-TAG_BYTES))
      const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
      return JSON.parse(`${opened}${decipher.final('utf8')}`)
    } catch {
      // Another key may open it.
    }
  }
  return undefined
}
