import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeEach, expect, it, vi } from 'vitest'
import { showWorkspace, taggedFrom } from '../api/client.ts'
import { sessions, useSignIn, type WorkspaceSession } from './session.ts'

const workspace = (kind: 'key' | 'link'): WorkspaceSession => ({
  ...{ kind, scopes: ['*'], operator: null, reason: null, expires_at: '2026-01-01T08:00:00Z' },
  workspace: { id: 'shop', name: 'Shop', livemode: true },
  key: kind === 'key' ? { id: 'storefront', name: 'Storefront' } : null,
})
const operator = { name: 'ada', expires_at: '2026-01-01T08:00:00Z' }

/** The answers that the console gets, and whose pages it has named in its requests. */
const answers: Response[] = []
const named: (string | undefined)[] = []

beforeEach(() => {
  vi.stubGlobal('fetch', async (_url: string, { headers }: { headers: Record<string, string> }) => {
    named.push(headers['x-console-workspace'])
    return answers.shift()
  })
  return () => {
    vi.unstubAllGlobals()
    showWorkspace(undefined)
  }
})

it('keeps the pages of an ended session for whoever has its key, and those of a link for nobody', async () => {
  for (const [kind, waits] of [
    ['key', true],
    ['link', false],
  ] as const) {
    const client = new QueryClient()
    answers.push(Response.json({ workspace: workspace(kind), operator: null }), Response.json({}, { status: 401 }))
    await client.fetchQuery(sessions)
    client.setQueryData(['orders'], 'of the shop')
    const { workspace: open, pages } = await client.fetchQuery({ ...sessions, staleTime: 0 })
    expect([kind, open, pages.workspace !== null]).toEqual([kind, null, waits])
    expect(client.getQueryData(['orders']) !== undefined).toBe(waits)
  }
})

it('names the workspace that it shows after an operator has signed out as well', async () => {
  const client = new QueryClient()
  let end: ReturnType<typeof useSignIn>['end'] = () => Promise.reject()
  const Page = () => {
    end = useSignIn().end
    return null
  }
  renderToStaticMarkup(createElement(QueryClientProvider, { client }, createElement(Page)))
  const signedIn = Response.json({ workspace: workspace('key'), operator })
  answers.push(signedIn, new Response(null, { status: 204 }), Response.json({}))
  await client.fetchQuery(sessions)
  await end('operator')
  await taggedFrom('/collections')
  expect(named.at(-1)).toBe('shop')
})
