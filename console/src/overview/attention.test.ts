import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { sessions, type WorkspaceSession } from '../session/session.ts'
import { Attention } from './attention.tsx'

const attentionFor = (scopes: readonly string[]) => {
  const session = { workspace: { kind: 'key', scopes } as WorkspaceSession, operator: null }
  const client = new QueryClient()
  client.setQueryData(sessions.queryKey, { ...session, pages: session })
  const attention = createElement(Attention, { usage: undefined, limits: undefined })
  return renderToStaticMarkup(createElement(QueryClientProvider, { client }, attention))
}

it('names what the session may not see, rather than find nothing wrong with it', () => {
  expect(attentionFor(['workspace::read', 'app::read'])).toContain('may not see endpoints and deliveries, imports.')
  expect(attentionFor(['*'])).not.toContain('may not see')
})
