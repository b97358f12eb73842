import type { AnySql } from '@backoffice/postgres/database.ts'
import { type CompiledRules, compileRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'

/** A rule-driven generation that is shown or being built, its rules ready to be asked. */
export interface RuledGeneration {
  readonly number: number
  readonly rules: CompiledRules
}

/** The rules of workspaces, kept compiled. */
export interface RuleSets {
  /** Those of some workspaces, as committed when this is called: asked for under the membership lock they hold until it is let go. */
  of(sql: AnySql, workspaceIds: readonly string[]): Promise<ReadonlyMap<string, readonly RuledGeneration[]>>
}

/** Compiled rules take several times the room of their text. */
const KEPT_CHARACTERS = 16 * 1024 * 1024

interface RuleSet {
  readonly version: number
  readonly generations: readonly RuledGeneration[]
  readonly characters: number
}

interface StoredGeneration {
  workspaceId: string
  number: number
  rules: Rules
  characters: number
}

/** Keeps the rule sets that were asked for last, as many as there is room for. */
export function ruleSets(keptCharacters = KEPT_CHARACTERS): RuleSets {
  const kept = new Map<string, RuleSet>()
  let characters = 0

  const forget = (workspaceId: string) => {
    characters -= kept.get(workspaceId)?.characters ?? 0
    kept.delete(workspaceId)
  }
  const keep = (workspaceId: string, set: RuleSet) => {
    forget(workspaceId)
    kept.set(workspaceId, set)
    characters += set.characters
    for (const oldest of kept.keys()) {
      if (characters <= keptCharacters) return
      forget(oldest)
    }
  }
  return {
    async of(sql, workspaceIds) {
      const versions = await readVersions(sql, workspaceIds)
      const stale = versions.filter(({ workspaceId, version }) => kept.get(workspaceId)?.version !== version)
      const read = stale.length === 0 ? new Map() : Map.groupBy(await readRules(sql, stale), (one) => one.workspaceId)
      const current = new Map<string, readonly RuledGeneration[]>()
      for (const { workspaceId, version } of versions) {
        const known = kept.get(workspaceId)
        const set = known?.version === version ? known : compiled(version, read.get(workspaceId) ?? [], known)
        keep(workspaceId, set)
        current.set(workspaceId, set.generations)
      }
      return current
    },
  }
}

/** A generation's rules never change, so that those compiled before are used again. */
function compiled(version: number, stored: readonly StoredGeneration[], known: RuleSet | undefined): RuleSet {
  const before = new Map(known?.generations.map((generation) => [generation.number, generation]))
  return {
    version,
    generations: stored.map(({ number, rules }) => before.get(number) ?? { number, rules: compileRules(rules) }),
    characters: stored.reduce((sum, one) => sum + one.characters, 0),
  }
}

const readVersions = (sql: AnySql, workspaceIds: readonly string[]) => sql<{ workspaceId: string; version: number }[]>`
  select workspace_id as "workspaceId", version from rule_set where workspace_id = any(${[...workspaceIds]}::uuid[])`

const readRules = (sql: AnySql, sets: readonly { workspaceId: string }[]) => sql<StoredGeneration[]>`
  select workspace_id as "workspaceId", number, rules, length(rules::text) as characters
  from generation
  where workspace_id = any(${sets.map(({ workspaceId }) => workspaceId)}::uuid[])
    and source = 'RULES' and state in ('BUILDING', 'CURRENT')`

/** Notes that a workspace's generations are no longer what they were, for all who keep their rules. */
export async function generationsChanged(sql: AnySql, workspaceId: string): Promise<void> {
  await sql`
    insert into rule_set (workspace_id, version) values (${workspaceId}, 1)
    on conflict (workspace_id) do update set version = rule_set.version + 1`
}
