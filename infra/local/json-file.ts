import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

/** The value in a JSON file; undefined when there is no such file. */
export const readJson = <Value>(file: string): Value | undefined =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined

/** Replaces a JSON file atomically. Only its owner can read it, since it may contain keys. */
export function replaceJson(file: string, value: object): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
