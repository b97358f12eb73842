import type { StackDescription } from '@backoffice/local/stack-file.ts'
import type postgres from 'postgres'
import type { Attacker } from './attacker.ts'

/** What an attack works with. */
export interface AttackPlace {
  readonly stack: StackDescription
  readonly attacker: Attacker
  /** Connects as a superuser, for locks that are held and rows that would take too long to make over the API. */
  readonly sql: postgres.Sql
}

/** Prepares and begins an attack. Resolves when it is at its full strength, with the function that ends it. */
export type Attack = (place: AttackPlace) => Promise<() => Promise<void>>
