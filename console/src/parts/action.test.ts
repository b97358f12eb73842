import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { sessions, type WorkspaceSession } from '../session/session.ts'
import { Act } from './action.tsx'

const buttonFor = (scopes: readonly string[], disabled = false) => {
  const session = { workspace: { kind: 'key', scopes } as WorkspaceSession, operator: null }
  const client = new QueryClient()
  client.setQueryData(sessions.queryKey, { ...session, pages: session })
  const act = createElement(Act, { needs: 'product::create', onAct: () => undefined, disabled }, 'Add')
  return renderToStaticMarkup(createElement(QueryClientProvider, { client }, act))
}

it('leaves a button without its scope where everybody can reach it, with the reason', () => {
  const button = buttonFor(['product::read'], true)
  expect(button).toContain('aria-disabled="true" title="This session lacks the scope product::create"')
  expect(button).not.toContain('disabled=""')
  expect(buttonFor(['product'])).toBe('<button type="button">Add</button>')
  expect(buttonFor(['product'], true)).toContain('disabled=""')
})
