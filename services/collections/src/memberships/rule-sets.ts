import type { AnySql } from '@backoffice/postgres/database.ts'
import { raiseVersion, VersionedCache } from '@backoffice/postgres/versioned-cache.ts'
import { lettingOthersRun } from '@backoffice/runtime/give-way.ts'
import type { CompiledRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'
import { UnreadableVersions } from './unreadable-versions.ts'

/** A membership version by rules, BUILDING or CURRENT, with its compiled rules. */
export interface RuleBasedVersion {
  readonly number: number
  /** Null if this process cannot read the rules. */
  readonly rules: CompiledRules | null
}

/** The compiled rules of workspaces. They stay in force while the caller holds the membership lock. */
export type RuleSets = Pick<VersionedCache<StoredRules, readonly RuleBasedVersion[]>, 'of'>

/** Rules that cost as much as a product: each is compared with it, and may add a membership. */
const RULES_OF_A_PRODUCT = 100
/** The rules of a workspace are counted as they were at most so long ago: this costs no statement most times. */
const COUNTED_WITHIN_MS = 60_000

/** How many products of each workspace a transaction has to count instead of one, for its rules. */
export async function ruleWeights(sql: AnySql, ruleSets: RuleSets, workspaceIds: readonly string[]) {
  const versions = await ruleSets.of(sql, workspaceIds, COUNTED_WITHIN_MS)
  return (workspaceId: string) => Math.max(1, (versions.get(workspaceId)?.length ?? 0) / RULES_OF_A_PRODUCT)
}

/** Compiled rules take several times the memory of their text. */
const MAX_CHARACTERS = 16 * 1024 * 1024

interface StoredRules {
  workspace_id: string
  number: number
  rules: Rules
  characters: number
}

/** Keeps the rule sets that were used last, as long as their texts have at most `maxCharacters`. */
export const ruleSets = (unreadable = new UnreadableVersions(), maxCharacters = MAX_CHARACTERS): RuleSets =>
  new VersionedCache<StoredRules, readonly RuleBasedVersion[]>({
    versions: 'rule_version',
    read: readRules,
    // Compiles the rules of new versions only: the rules of a membership version never change.
    build(stored, previous = []) {
      const giveWay = lettingOthersRun()
      const known = new Map(previous.map((version) => [version.number, version]))
      return Array.fromAsync(stored, async ({ workspace_id: workspaceId, number, rules }) => {
        return known.get(number) ?? { number, rules: await unreadable.compile({ workspaceId, number, rules }, giveWay) }
      })
    },
    maxSize: maxCharacters,
    sizeOf: (stored) => stored.reduce((sum, one) => sum + one.characters, 0),
  })

const readRules = (sql: AnySql, workspaceIds: string[]) => sql<StoredRules[]>`
  select workspace_id, number, rules, length(rules::text) as characters
  from membership_version
  where workspace_id = any(${workspaceIds}::uuid[]) and source = 'RULES' and state in ('BUILDING', 'CURRENT')`

/** Makes every process read the rules of the workspace's versions again, once the transaction is committed. */
export const raiseRuleVersion = (sql: AnySql, workspaceId: string): Promise<void> =>
  raiseVersion(sql, 'rule_version', workspaceId)
