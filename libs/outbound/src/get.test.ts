import { createServer } from 'node:http'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { get } from './get.ts'
import { guardedAgent } from './guarded-agent.ts'
import { listeningOn } from './testing/listening-on.ts'

const INSIDE = '10.0.0.1'
const find = async () => [INSIDE]
const port = await listeningOn(
  createServer(({ url = '' }, response) => void response.writeHead(302, { location: url.slice(1) }).end()),
  '127.0.0.1',
)

const getting = (url: string, allowLoopback: boolean) => {
  const agent = guardedAgent({ allowLoopback }, { find })
  whenDone(() => agent.destroy())
  return get(agent, url, { policy: { allowLoopback }, headers: {}, signal: AbortSignal.timeout(5000) })
}

test.each([
  ['http://shop.test/x.png', 'shop.test is not a public address'],
  ['http://shop.test:8080/x.png', 'the URL must be an https URL'],
  ['https://user:secret@shop.test/x.png', 'the URL must not contain a user name or password'],
  ['https://shop.test:22/x.png', 'the URL must use port 443'],
  ['https://169.254.169.254/x.png', '169.254.169.254 is not a public address'],
])('the rules of targets hold for %s, and http is asked for by https (OP-281)', async (url, message) => {
  await expect(getting(url, false)).rejects.toThrow(message)
})

test.each([
  ['https://shop.test/x.png', 'shop.test is not a public address'],
  ['//10.0.0.1/x.png', 'redirects to 10.0.0.1: the URL must be an https URL'],
  ['file:///etc/passwd', 'redirects to : the URL must be a URL such as'],
  ['https://[', 'redirects to what is no URL'],
])('and for each step of a redirect: %s', async (location, message) => {
  await expect(getting(`http://127.0.0.1:${port}/${location}`, true)).rejects.toThrow(message)
})
