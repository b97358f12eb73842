import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SHARDS } from '../../services/webhook-delivery/src/shards/shard-of.ts'

const folder = new URL('../prometheus/rules/', import.meta.url)
const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'))
/** The rules as text, each from its name on. */
const alerts = texts.flatMap((text) => text.split(/^ {6}- (?=alert:|record:)/m)).filter((rule) => /^alert:/.test(rule))
const member = (rule: string, name: string) => new RegExp(`^ +${name}: (.+)$`, 'm').exec(rule)?.[1]
const nameOf = (rule: string) => /^alert: (\w+)$/m.exec(rule)?.[1] ?? ''
const anchorOf = (rule: string) =>
  nameOf(rule)
    .replaceAll(/(?<=.)[A-Z]/g, '-$&')
    .toLowerCase()

it('every alert says what is wrong and what to do, and has a severity and a runbook of its own name', () => {
  expect(alerts.length).toBeGreaterThan(20)
  for (const rule of alerts) {
    const name = nameOf(rule)
    expect(member(rule, 'runbook_url'), name).toBe(`docs/operations.md#${anchorOf(rule)}`)
    expect(member(rule, 'labels'), name).toMatch(/^\{ severity: (page|ticket) \}$/)
    expect(member(rule, 'summary'), name).toBeDefined()
    expect(member(rule, 'description'), name).toBeDefined()
  }
  expect(new Set(alerts.map(nameOf)).size).toBe(alerts.length)
})

it('the alert on shards without an owner knows how many there are', () => {
  const rule = alerts.find((each) => nameOf(each) === 'WebhookShardsUnowned') ?? ''
  const numbers = [...rule.matchAll(/\) < (\d+)/g)].map(([, number]) => number)
  expect(new Set(numbers)).toEqual(new Set([String(SHARDS)]))
  expect(member(rule, 'summary')).toContain(`of ${SHARDS} shards`)
})

it('docs/operations.md has a runbook for each alert and for nothing else', () => {
  const guide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const [, runbooks = ''] = guide.split(/^## Runbooks$/m)
  const sections = [...runbooks.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading)
  expect(sections.toSorted()).toEqual(alerts.map(anchorOf).toSorted())
})
