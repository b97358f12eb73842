import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServiceName } from '@backoffice/contracts/services.ts'

export const K8S = join(import.meta.dirname, '../../k8s')
/** Where the pods of a service have the keys of its Secret, as files. */
export const SECRETS_FOLDER = '/run/secrets/backoffice'

/** What reads settings and has a Secret of its own: a service, `migrate` and `provision`, or the jobs of records. */
export type Reader = ServiceName | JobSecret
/** The Secrets of the jobs: `jobs` is that of `topics` and `schemas`. */
export const JOB_SECRETS = ['provision', 'migrate', 'jobs'] as const
type JobSecret = (typeof JOB_SECRETS)[number]
export type Settings = Readonly<Record<string, string>>

/** The settings of an overlay's ConfigMaps for one reader: its own come after those that all have in common. */
export function settingsIn(overlay: string, reader: Reader): Settings {
  const telemetry = overlay === 'production' ? ['components/telemetry/settings.env'] : []
  const files = [
    'base/settings.env',
    ...telemetry,
    `overlays/${overlay}/settings.env`,
    `base/${reader}/settings.env`,
    `base/jobs/${reader}.env`,
    `overlays/${overlay}/${reader}.env`,
  ]
  return Object.assign({}, ...files.map(readSettings))
}

/** The keys that a Secret needs: those that settings named `…_FILE` lead to. */
export const secretKeys = (settings: Settings): string[] =>
  Object.values(settings)
    .filter((value) => value.startsWith(`${SECRETS_FOLDER}/`))
    .map((value) => value.slice(SECRETS_FOLDER.length + 1))

/** The settings of a file of `NAME=value` lines; none when there is no such file. */
export function readSettings(path: string): Settings {
  const file = join(K8S, path)
  if (!existsSync(file)) return {}
  const lines = readFileSync(file, 'utf8').split('\n')
  const pairs = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(/=(.*)/))
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]))
}
