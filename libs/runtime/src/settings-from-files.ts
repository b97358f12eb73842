import { readFileSync } from 'node:fs'
import { z } from 'zod'

export type SettingsShape = Readonly<Record<string, z.core.$ZodType>>
type Variables = Readonly<Record<string, string | undefined>>

/** The variable with the name of the file that has a setting's value. */
export const fileVariable = (name: string) => `${name}_FILE`

/** Whether a setting may come from a file: a secret (`secret: true`), or what is a file by nature (`file: true`). */
export function mayBeFile(setting: z.core.$ZodType): boolean {
  const { secret = false, file = false } = z.globalRegistry.get(setting) ?? {}
  return secret === true || file === true
}

/**
 * The variables, with the text of each file that a `<NAME>_FILE` names as `<NAME>`; a line end at its end is no part of
 * it. `refusals` say by the setting's name why a file was not read.
 */
export function withFiles(shape: SettingsShape, variables: Variables) {
  const values: Record<string, string | undefined> = { ...variables }
  const refusals = new Map<string, string>()
  const fromFiles = new Set<string>()
  for (const name of Object.keys(shape)) {
    const file = variables[fileVariable(name)]
    if (file === undefined || !mayBeFile(shape[name] as z.ZodType)) continue
    const text = textOf(file)
    if (variables[name] !== undefined) refusals.set(name, `must not be set beside ${name}`)
    else if (text === undefined) refusals.set(name, 'names a file that cannot be read')
    else if (text === '') refusals.set(name, 'names an empty file')
    else values[name] = text
    fromFiles.add(name)
  }
  return { values, refusals, fromFiles }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch {
    return undefined
  }
}
