import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { ApiFailure, isSignedOut } from './api/failure.ts'
import type { Search } from './parts/filters.tsx'
import { Missing } from './parts/missing.tsx'
import { Failure } from './parts/page.tsx'
import { rootRoute } from './root-route.ts'
import { pages } from './routes.ts'
import { PAGES_WAIT_MS, sessions } from './session/session.ts'

/** The login comes in the place of the page once the session has ended. */
const onError = (error: unknown) => {
  if (isSignedOut(error)) queries.invalidateQueries(sessions)
}

const isWorthRepeating = (error: unknown) => !(error instanceof ApiFailure) || error.status >= 500

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    // Without a network nothing is sent later, when nobody expects it. Answers with secrets are not kept.
    mutations: { networkMode: 'always', gcTime: 0 },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      // What pages that wait behind the login have read stays as long as they do: without it their forms would go.
      gcTime: 2 * PAGES_WAIT_MS,
      retry: (count, error) => count < 2 && isWorthRepeating(error),
    },
  },
})

export const router = createRouter({
  basepath: '/console',
  routeTree: rootRoute.addChildren(pages),
  defaultPreload: 'intent',
  defaultNotFoundComponent: Missing,
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
  scrollRestoration: true,
  // The parameters of a URL are texts as the API takes them: an id of digits stays a text.
  parseSearch: (text): Search => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(search as Search).toString()
    return text === '' ? '' : `?${text}`
  },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
