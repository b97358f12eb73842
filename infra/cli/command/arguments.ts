import { isId } from '@backoffice/contracts/fields.ts'
import type { ArgsDef } from 'citty'
import { UsageError } from './command-error.ts'

/** A required id on the command line. */
export const idArgument = (description: string) => ({ type: 'positional', required: true, description }) as const

/** An id in the form of a UUID: it becomes a part of a path. */
export function id(value: string): string {
  if (!isId(value)) throw new UsageError(`${value} is no id: an id is a UUID`)
  return value
}

/** A comma-separated list; undefined for an option that was not given. */
export const list = (value: string): string[] => value.split(',').map((item) => item.trim())

/** A whole number; undefined for an option that was not given. */
export function wholeNumber(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`--${option} ${value}: must be a whole number`)
  return Number(value)
}

/** Throws UsageError for an option that the command does not have, one without its value, and an argument too many. */
export function refuseOtherArguments(definitions: ArgsDef, given: Readonly<Record<string, unknown>>): void {
  const { _: words, ...options } = given
  for (const [name, value] of Object.entries(options)) {
    const definition = definitions[name] ?? definitions[kebab(name)]
    if (definition === undefined) throw new UsageError(`unknown option ${name.length > 1 ? '--' : '-'}${name}`)
    if (value === '' && definition.type !== 'positional') throw new UsageError(`--${kebab(name)}: its value is missing`)
  }
  const places = Object.values(definitions).filter(({ type }) => type === 'positional').length
  const [extra] = (words as string[]).slice(places)
  if (extra !== undefined) throw new UsageError(`${extra} is an argument too many`)
}

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
