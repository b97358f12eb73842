import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { eventually } from '@backoffice/testing/eventually.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { below, blocks, quickstart } from './testing/partner-guide.ts'
import { sharedStack } from './testing/stack.ts'
import { demoApi } from './testing/workspaces.ts'

/* Among the fault tests, since Go compiles its standard library. */

const COMPILED_MS = 300_000

const LANGUAGES = [
  ['TypeScript and JavaScript', 'ts', process.execPath],
  ['Python', 'python', 'python3'],
  ['Go', 'go', 'go'],
  ['PHP', 'php', 'php'],
] as const

/** The status for a body above 8 MiB. The receiver in Python answers before it has come. */
async function statusOfTooMuch(url: string, sendsBody: boolean): Promise<number | undefined> {
  const bytes = 8 * 1024 * 1024 + 1
  const sent = request(url, { method: 'POST', headers: { 'content-length': bytes } })
  const answered = once(sent, 'response')
  sent.flushHeaders()
  if (sendsBody) sent.end(Buffer.alloc(bytes))
  const [answer] = await answered
  sent.destroy()
  return answer.statusCode
}

const commands = (heading: string) => blocks('sh', below(heading, quickstart)).join('\n')

for (const [language, fence, command] of LANGUAGES) {
  const isThere = spawnSync(command, ['--version']).error === undefined
  test.skipIf(!isThere)(`its steps lead to a signed webhook in ${language}`, { timeout: COMPILED_MS }, async () => {
    const stack = await sharedStack()
    const { gateway, workspaces } = stack.description()
    const folder = mkdtempDisposableSync(join(tmpdir(), 'quickstart-'))
    whenDone(() => folder.remove())
    const section = below(`### ${language}`, quickstart)
    const names = [...section.matchAll(/^`(\w+\.\w+)`:$/gm)].map(([, name = '']) => name)
    const files = blocks(fence, section)
    expect([names.length, files.length]).toEqual([2, 2])
    names.forEach((name, index) => {
      writeFileSync(join(folder.path, name), files[index] ?? '')
    })
    const port = await freePort()
    const env = {
      ...process.env,
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      BACKOFFICE_URL: gateway,
      BACKOFFICE_KEY: workspaces.find(({ livemode }) => !livemode)?.key,
      RECEIVER_URL: `http://127.0.0.1:${port}/`,
      PORT: String(port),
      GOTOOLCHAIN: 'local',
      // Else Python writes a line in parts, and those of curl come between them.
      PYTHONUNBUFFERED: '',
    }
    const script = [
      commands('## 2. Subscribe'),
      commands(`### ${language}`),
      `until curl -s -o index.txt "$RECEIVER_URL"; do sleep 0.2; done`,
      commands('## 4. Send an event'),
      'wait',
    ].join('\n')
    const shell = spawn('sh', ['-c', script], { cwd: folder.path, env, detached: true })
    const closed = once(shell, 'close')
    let output = ''
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (text) => (output += text))
    whenDone(async () => {
      process.kill(-(shell.pid ?? 0), 'SIGKILL')
      await closed
    })
    const sent = () => /"event_id":"([^"]+)"/.exec(output)?.[1]
    const eventId = await eventually('the event is sent', sent, COMPILED_MS).catch(() => expect.fail(output))
    await eventually('the receiver prints it', () => output.includes(`order.paid ${eventId}`))
    await eventually('a forged one is refused', () => /^400$/m.test(output))
    // What PHP takes is a setting of PHP.
    if (language !== 'PHP') expect(await statusOfTooMuch(env.RECEIVER_URL, language !== 'Python')).toBe(413)
    const { id } = JSON.parse(readFileSync(join(folder.path, 'endpoint.json'), 'utf8'))
    const deliveries = async () =>
      (await demoApi(stack.description(), false)('GET', `/v1/webhooks/${id}/deliveries`)).body
    await expect
      .poll(deliveries)
      .toMatchObject({ items: [{ event_id: eventId, attempts_made: 1, status: 'DELIVERED' }] })
  })
}
