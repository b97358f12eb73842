import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { blockingStatements, contractingStatements, droppedNames } from './testing/migration-rules.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** The migrations from before the rules: no replica of theirs runs any more. */
const BEFORE_THE_RULES: Readonly<Record<string, number>> = {
  'libs/postgres': 17,
  'services/apps': 2,
  'services/catalog': 15,
  'services/collections': 10,
  'services/gateway': 6,
  'services/imports': 3,
  'services/orders': 6,
  'services/webhook-delivery': 13,
}

const folders = ['libs/postgres', ...readdirSync(join(ROOT, 'services')).map((name) => `services/${name}`)]

test.each(folders)(
  'the migrations of %s take nothing from the version before and block no requests, unless a reason is given',
  (folder) => {
    const directory = join(ROOT, folder, 'migrations')
    const files = readdirSync(directory).filter((file) => Number.parseInt(file, 10) > (BEFORE_THE_RULES[folder] ?? 0))
    const found = files.flatMap((file) => {
      const migration = readFileSync(join(directory, file), 'utf8')
      return [...contractingStatements(migration), ...blockingStatements(migration)].map((what) => `${file} ${what}`)
    })
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
      'alter table tag add constraint c check (a is not null) not valid',
      'refuses rows that old replicas write: alter table tag add constraint c check (a is not null) not valid',
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

test.each([
  ['drop view a;', ['a']],
  ['-- contract: nobody\ndrop table if exists a, b cascade;', ['a', 'b']],
  ['drop function f(uuid, integer), g();', ['f', 'g']],
  ['drop index a; alter table b drop column c;', []],
])('what a migration drops: %s', (migration, names) => {
  expect(droppedNames(migration)).toEqual(names)
})

describe('statements that keep requests from a table that exists', () => {
  const INDEX = 'blocks writers while it builds an index'
  test.each([
    ['create index a on tag (b)', INDEX],
    ['create unique index if not exists a on tag (b)', INDEX],
    ['reindex table tag', INDEX],
    ['alter table tag add constraint a unique (b)', INDEX],
    ['alter table tag add primary key (b)', INDEX],
    ['alter table tag add constraint a check (b > 0)', 'blocks writers while it checks all rows'],
    ['alter table tag add constraint a foreign key (b) references c (d)', 'blocks writers while it checks all rows'],
    ['alter table tag add column a text generated always as (lower(b)) stored', 'rewrites the table'],
    ['alter table tag add column a uuid not null default uuidv7()', 'rewrites the table'],
    ['vacuum full tag', 'rewrites the table'],
    ["call backfill($$ update tag set a = b $$, 'tag')", 'changes all rows in one transaction'],
  ])('%s', (statement, does) => {
    expect(blockingStatements(`create table x (a int);\n${statement.toUpperCase()};`)).toMatchObject([
      expect.stringContaining(does),
    ])
    expect(blockingStatements(`-- blocks: a workspace has at most ten\n${statement};`)).toEqual([])
  })

  test.each([
    'create table tag (a int); create index a on tag (b); alter table tag add constraint c check (a > 0)',
    'create index a on only tag (b)',
    'alter table tag add constraint a unique using index b',
    'alter table tag add constraint a check (b > 0) not valid',
    "alter table tag add column a text not null default 'x', add column b timestamptz not null default now()",
    '-- without a transaction\ndrop index concurrently if exists a; create index concurrently a on tag (b)',
    '-- without a transaction\nalter table tag validate constraint a',
  ])('not: %s', (migration) => {
    expect(blockingStatements(migration)).toEqual([])
  })

  test.each([
    'create index concurrently a on tag (b)',
    'create index concurrently if not exists a on tag (b)',
    'drop index concurrently if exists other; create index concurrently a on tag (b)',
    'update tag set a = a + 1',
  ])('and without a transaction none that cannot be repeated after a crash: %s', (statement) => {
    expect(blockingStatements(`-- without a transaction\n${statement};`)).toEqual([
      expect.stringContaining('cannot be repeated after a crash'),
    ])
  })
})
