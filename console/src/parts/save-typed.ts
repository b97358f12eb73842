import type { Tagged } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import type { Field } from './edit.tsx'

export type Texts = Readonly<Record<string, string>>

/** The texts of a form when it is saved. */
export interface Typed {
  /** Those that differ from what is there. */
  readonly changed: Texts
  readonly all: Texts
}

interface Saving<Resource, Result> {
  /** As it was when somebody began to type. */
  readonly base: Tagged<Resource>
  readonly typed: Texts
  readonly fieldsOf: (resource: Resource) => readonly Field[]
  readonly read: (() => Promise<Tagged<Resource>>) | undefined
  readonly save: (typed: Typed, tag: string) => Promise<Result>
}

const ATTEMPTS = 3

/** What was typed is changed by somebody else as well. */
export class Clash<Resource> extends Error {
  readonly now: Tagged<Resource>
  /** What was typed and differs from what was read. */
  readonly mine: Texts
  /** What somebody else has made of the same. */
  readonly theirs: Texts

  constructor(now: Tagged<Resource>, mine: Texts, theirs: Texts) {
    super('somebody else has changed the same')
    this.now = now
    this.mine = mine
    this.theirs = theirs
  }
}

const textsOf = (fields: readonly Field[]): Texts => Object.fromEntries(fields.map(({ name, value }) => [name, value]))
const only = (texts: Texts, isWanted: (name: string, text: string) => boolean): Texts =>
  Object.fromEntries(Object.entries(texts).filter(([name, text]) => isWanted(name, text)))

/**
 * Saves what differs from what was read, over what others have changed elsewhere in the resource meanwhile. A text that
 * was typed and put back is no change. Undefined when there is nothing to save. Throws `Clash` when somebody else has
 * changed the same.
 */
export async function saveTyped<Resource, Result>(saving: Saving<Resource, Result>): Promise<Result | undefined> {
  const { base, typed, fieldsOf, read, save } = saving
  const before = textsOf(fieldsOf(base.body))
  const mine = only(typed, (name, text) => text !== before[name])
  let { body, tag } = base
  for (let attempt = 1; ; attempt += 1) {
    const known = textsOf(fieldsOf(body))
    const changed = only(mine, (name, text) => text !== known[name])
    if (Object.keys(changed).length === 0) return undefined
    try {
      return await save({ changed, all: { ...known, ...mine } }, tag)
    } catch (error) {
      const isChanged = error instanceof ApiFailure && error.status === 412
      if (!isChanged || read === undefined || attempt === ATTEMPTS) throw error
    }
    const now = await read()
    const after = textsOf(fieldsOf(now.body))
    const clashing = only(mine, (name, text) => after[name] !== before[name] && after[name] !== text)
    if (Object.keys(clashing).length > 0) {
      const theirs = Object.keys(clashing).map((name) => [name, after[name] ?? ''])
      throw new Clash(now, mine, Object.fromEntries(theirs))
    }
    ;({ body, tag } = now)
  }
}
