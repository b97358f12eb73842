import { execFile, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { blocks, quickstart, VECTOR } from './testing/partner-guide.ts'

/** A delivery as a receiver gets it, and whether it is genuine. */
interface Case {
  readonly name: string
  readonly secret: string
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly body: string
  readonly now: number
  readonly isGenuine: boolean
}

const signedAt = Number(VECTOR.timestamp)
const genuine = (name: string, differences: Partial<Case> = {}): Case => ({
  name,
  ...VECTOR,
  now: signedAt,
  isGenuine: true,
  ...differences,
})
const forged = (name: string, differences: Partial<Case>) => genuine(name, { ...differences, isGenuine: false })
const signatureOf = (key: string, body: string) =>
  `v1,${createHmac('sha256', Buffer.from(key, 'base64')).update(`${VECTOR.id}.${VECTOR.timestamp}.${body}`).digest('hex')}`

const text = '{"name": "Größe ½ 👕"}\n'
const otherSignature = signatureOf(Buffer.alloc(32, 7).toString('base64'), VECTOR.body)
const standardSignature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

const CASES: readonly Case[] = [
  genuine('the vector of OP-62'),
  genuine('300 seconds old', { now: signedAt + 300 }),
  genuine('300 seconds ahead', { now: signedAt - 300 }),
  genuine('text beyond ASCII', { body: text, signature: signatureOf(VECTOR.secret.slice(6), text) }),
  genuine('our signature first of two', { signature: `${VECTOR.signature} ${otherSignature}` }),
  genuine('our signature second of two', { signature: `${otherSignature} ${VECTOR.signature}` }),
  genuine('a Standard Webhooks entry beside it', { signature: `${VECTOR.signature} ${standardSignature}` }),
  forged('a tampered body', { body: VECTOR.body.replace('4}', '5}') }),
  forged('a tampered id', { id: 'msg_other' }),
  forged('a tampered timestamp', { timestamp: String(signedAt + 1) }),
  forged('a stale timestamp', { now: signedAt + 301 }),
  forged('a timestamp that lies ahead', { now: signedAt - 301 }),
  forged('a timestamp that is no number', { timestamp: 'now' }),
  forged('no timestamp', { timestamp: '' }),
  forged('two signatures of others', { signature: `${otherSignature} ${otherSignature}` }),
  forged('no signature', { signature: '' }),
  forged('a pattern for a signature', { signature: 'v1,* *' }),
  forged('half a signature', { signature: VECTOR.signature.slice(0, 35) }),
  forged('another version', { signature: VECTOR.signature.replace('v1', 'v2') }),
  forged('no secret configured', { secret: '', signature: signatureOf('', VECTOR.body) }),
]

const directory = mkdtempSync(join(tmpdir(), 'snippets-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function write(files: Record<string, string>) {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), content)
  }
}
write({ 'cases.json': JSON.stringify(CASES) })

/** Runs a program that prints the snippet's verdict on each case, as JSON. */
async function verdictsOf(command: string, args: string[], cwd = directory): Promise<boolean[]> {
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' }
  const { stdout } = await promisify(execFile)(command, args, { cwd, env })
  return JSON.parse(stdout)
}

const onlyBlock = (language: string) => {
  const found = blocks(language)
  expect(found, `blocks of ${language}`).toHaveLength(1)
  return found[0] ?? ''
}

/** The function of the quickstart that verifies; its receiver follows. */
const verifyBlock = (language: string) => blocks(language, quickstart)[0] ?? ''

function runNode(module: string, snippet: string): Promise<boolean[]> {
  write({
    [module]: snippet,
    [`run-${module}.mjs`]: `
      import { readFileSync } from 'node:fs'
      import { verifyWebhook } from './${module}'
      const isTaken = ({ secret, id, timestamp, signature, body, now }) => {
        const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
        try {
          return verifyWebhook(secret, headers, Buffer.from(body), now) !== undefined
        } catch {
          return false
        }
      }
      console.log(JSON.stringify(JSON.parse(readFileSync('cases.json')).map(isTaken)))`,
  })
  return verdictsOf(process.execPath, [`run-${module}.mjs`])
}

function runPython(): Promise<boolean[]> {
  write({
    'verify.py': verifyBlock('python'),
    'run.py': `
import json
from verify import verify_webhook

def is_taken(case):
    headers = {"Webhook-Id": case["id"], "Webhook-Timestamp": case["timestamp"], "Webhook-Signature": case["signature"]}
    try:
        return verify_webhook(case["secret"], headers, case["body"].encode(), case["now"]) is not None
    except ValueError:
        return False

print(json.dumps([is_taken(case) for case in json.load(open("cases.json", encoding="utf-8"))]))`,
  })
  return verdictsOf('python3', ['run.py'])
}

function runGo(): Promise<boolean[]> {
  write({
    'go/go.mod': 'module example.com/receiver\n\ngo 1.21\n',
    'go/verify.go': verifyBlock('go'),
    'go/main.go': `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	var cases []struct {
		Secret, Id, Timestamp, Signature, Body string
		Now                                    int64
	}
	text, _ := os.ReadFile("../cases.json")
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	taken := []bool{}
	for _, c := range cases {
		header := http.Header{}
		header.Set("Webhook-Id", c.Id)
		header.Set("Webhook-Timestamp", c.Timestamp)
		header.Set("Webhook-Signature", c.Signature)
		taken = append(taken, Verify(c.Secret, header, []byte(c.Body), time.Unix(c.Now, 0)) == nil)
	}
	answer, _ := json.Marshal(taken)
	fmt.Println(string(answer))
}
`,
  })
  return verdictsOf('go', ['run', '.'], join(directory, 'go'))
}

function runPhp(): Promise<boolean[]> {
  write({
    'verify.php': verifyBlock('php'),
    'run.php': `<?php
require __DIR__ . '/verify.php';
echo json_encode(array_map(function ($case) {
    $headers = ['webhook-id' => $case['id'], 'webhook-timestamp' => $case['timestamp'], 'webhook-signature' => $case['signature']];
    try {
        return is_array(verifyWebhook($case['secret'], $headers, $case['body'], $case['now']));
    } catch (RuntimeException) {
        return false;
    }
}, json_decode(file_get_contents(__DIR__ . '/cases.json'), true)));`,
  })
  return verdictsOf('php', ['run.php'])
}

/** The first build compiles Go's standard library, unless `npm run check:kubernetes` did. */
const COMPILED_MS = 300_000

const SNIPPETS: readonly [string, string, () => Promise<boolean[]>][] = [
  ['TypeScript', process.execPath, () => runNode('verify.ts', verifyBlock('ts'))],
  ['JavaScript', process.execPath, () => runNode('verify.mjs', stripTypeScriptTypes(verifyBlock('ts')))],
  ['Python', 'python3', runPython],
  ['Go', 'go', runGo],
  ['PHP', 'php', runPhp],
]

/** Deliveries to an endpoint with `standard_signature`, signed now: the libraries go by the clock of the machine. */
function standardCases(): Case[] {
  const now = Math.floor(Date.now() / 1000)
  const signed = (name: string, age: number, isGenuine: boolean, differences: Partial<Case> = {}): Case => {
    const timestamp = String(now - age)
    const digest = (encoding: 'hex' | 'base64') =>
      createHmac('sha256', Buffer.from(VECTOR.secret.slice(6), 'base64'))
        .update(`${VECTOR.id}.${timestamp}.${text}`)
        .digest(encoding)
    const signature = `v1,${digest('hex')} v1,${digest('base64')}`
    return { name, ...VECTOR, body: text, timestamp, signature, now, isGenuine, ...differences }
  }
  return [
    signed('both signatures', 0, true),
    signed('a tampered body', 0, false, { body: text.replace('½', '¼') }),
    signed('a tampered id', 0, false, { id: 'msg_other' }),
    signed('a delivery of an hour ago', 3600, false),
    signed('another secret', 0, false, { secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }),
  ]
}

const expectVerdicts = (cases: readonly Case[], verdicts: readonly boolean[]) =>
  expect(cases.map(({ name }, index) => [name, verdicts[index]])).toEqual(
    cases.map(({ name, isGenuine }) => [name, isGenuine]),
  )

test('the library of PyPI takes what is genuine with `standard_signature`, and refuses the rest', async ({ skip }) => {
  const quickly = ['--quiet', '--no-compile', '--target', join(directory, 'python')]
  if (spawnSync('python3', ['-m', 'pip', 'install', ...quickly, 'standardwebhooks==1.1.0']).status !== 0)
    skip('pip cannot install standardwebhooks here')
  const cases = standardCases()
  write({
    'standard-cases.json': JSON.stringify(cases),
    'python/snippet.py': onlyBlock('py'),
    'python/run.py': `
import json
from standardwebhooks import WebhookVerificationError
from snippet import verify_webhook

def is_taken(case):
    headers = {"Webhook-Id": case["id"], "Webhook-Timestamp": case["timestamp"], "Webhook-Signature": case["signature"]}
    try:
        return verify_webhook(case["secret"], headers, case["body"].encode()) is not None
    except WebhookVerificationError:
        return False

print(json.dumps([is_taken(case) for case in json.load(open("standard-cases.json", encoding="utf-8"))]))`,
  })
  expectVerdicts(cases, await verdictsOf('python3', ['python/run.py']))
})

for (const [language, command, run] of SNIPPETS) {
  const isThere = spawnSync(command, ['--version']).error === undefined
  const title = `the ${language} snippet takes what is genuine and refuses the rest`
  const check = async () => {
    const verdicts = await run()
    const byName = (verdict: (one: Case, index: number) => boolean | undefined) =>
      Object.fromEntries(CASES.map((one, index) => [one.name, verdict(one, index)]))
    expect(byName((_, index) => verdicts[index])).toEqual(byName(({ isGenuine }) => isGenuine))
  }
  test.skipIf(!isThere)(isThere ? title : `${title} (there is no ${command} here)`, check, COMPILED_MS)
}
