import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { contractingStatements } from './testing/contracting-statements.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** The migrations from before the rule: no replica of theirs runs any more. */
const BEFORE_THE_RULE: Readonly<Record<string, number>> = {
  'libs/postgres': 13,
  'services/apps': 1,
  'services/catalog': 15,
  'services/collections': 10,
  'services/gateway': 6,
  'services/imports': 3,
  'services/orders': 6,
  'services/webhook-delivery': 12,
}

const folders = ['libs/postgres', ...readdirSync(join(ROOT, 'services')).map((name) => `services/${name}`)]

test.each(folders)(
  'the migrations of %s take nothing away from the version before, unless a reason is given',
  (folder) => {
    const directory = join(ROOT, folder, 'migrations')
    const files = readdirSync(directory).filter((file) => Number.parseInt(file, 10) > (BEFORE_THE_RULE[folder] ?? 0))
    const found = files.flatMap((file) =>
      contractingStatements(readFileSync(join(directory, file), 'utf8')).map((statement) => `${file} ${statement}`),
    )
    expect(found).toEqual([])
  },
)

describe('statements that take something away from the version before', () => {
  test.each([
    ['alter table tag drop column name', 'drops what old replicas use: alter table tag drop column name'],
    ['alter table a add column b int, drop column c', 'drops what old replicas use: drop column c'],
    ['drop table tag', 'drops what old replicas use: drop table tag'],
    ['alter table tag rename to label', 'renames what old replicas use: alter table tag rename to label'],
    ['alter table tag rename column a to b', 'renames what old replicas use: alter table tag rename column a to b'],
    [
      'alter table tag alter column a set not null',
      'refuses rows that old replicas write: alter table tag alter column a set not null',
    ],
    [
      'alter table tag add column a text not null',
      'refuses rows that old replicas write: alter table tag add column a text not null',
    ],
    [
      'alter table tag alter column a type bigint',
      'changes a type that old replicas read and write: alter table tag alter column a type bigint',
    ],
    [
      'alter table tag alter a drop default',
      'drops a default that old replicas rely on: alter table tag alter a drop default',
    ],
    ['truncate tag', 'deletes what old replicas read: truncate tag'],
    ['do $$ begin drop table tag; end $$', 'drops what old replicas use: do $$ begin drop table tag; end $$'],
  ])('%s', (statement, found) => {
    expect(contractingStatements(`create table x (a text not null);\n${statement.toUpperCase()};`)).toEqual([found])
    expect(contractingStatements(`-- contract: nobody reads it since version 7\n${statement};`)).toEqual([])
  })

  test.each([
    'alter table tag add column a text',
    "alter table tag add column a text not null default 'x; drop table y'",
    'alter table tag add column a text not null generated always as (lower(b)) stored',
    'alter table tag rename constraint a to b',
    'alter index a rename to b',
    'create function f() returns void language plpgsql as $$ begin drop table t; end $$',
    'drop index a; -- drop table b',
  ])('not: %s', (statement) => {
    expect(contractingStatements(statement)).toEqual([])
  })
})
