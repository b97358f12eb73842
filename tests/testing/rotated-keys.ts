import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { INTERNAL_KEY_ID, stackSecrets } from '@backoffice/local/secrets.ts'
import { type StackEnvironment, settingsOf } from '@backoffice/local/service-settings.ts'
import type { VersionSettings } from './deployment.ts'

const KEYS = [
  'INTERNAL_TOKEN_PUBLIC_KEYS',
  'INTERNAL_TOKEN_PRIVATE_KEYS',
  'WEBHOOK_SECRET_KEYS',
  'APP_SECRET_KEYS',
  'APP_TOKEN_KEYS',
  'API_KEY_CHECK_KEYS',
] as const

/** The steps of a change of every key (docs/operations.md): the new one is last, then first, then alone. */
export interface RotatedKeys {
  readonly added: VersionSettings
  readonly first: VersionSettings
  /** The check of API keys keeps both keys: without the former one, API keys that were made with it end. */
  readonly alone: VersionSettings
}

/** Makes a new key of every kind and the settings of each step. */
export function rotatedKeys(stack: StackEnvironment): RotatedKeys {
  const directory = join(stack.directory, 'rotated')
  mkdirSync(directory, { recursive: true })
  const other: StackEnvironment = { ...stack, secrets: stackSecrets(directory) }
  const settings = (entryOf: (key: (typeof KEYS)[number], former: string, next: string) => string): VersionSettings =>
    Object.fromEntries(
      SERVICE_NAMES.map((name) => {
        const [former, next] = [settingsOf(name, stack), settingsOf(name, other)]
        const changed = KEYS.flatMap((key) => {
          const [before, after] = [former[key], next[key]?.replace(`${INTERNAL_KEY_ID}:`, 'rotated:')]
          return before === undefined || after === undefined ? [] : [[key, entryOf(key, before, after)] as const]
        })
        return [name, Object.fromEntries(changed)]
      }),
    )
  return {
    added: settings((_key, former, next) => `${former},${next}`),
    first: settings((_key, former, next) => `${next},${former}`),
    alone: settings((key, former, next) => (key === 'API_KEY_CHECK_KEYS' ? `${next},${former}` : next)),
  }
}
