import { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { ApiFailure } from './api/failure.ts'
import type { Search } from './parts/filters.tsx'
import { Missing } from './parts/missing.tsx'
import { rootRoute } from './root-route.ts'
import { pages } from './routes.ts'

const isWorthRepeating = (error: unknown) => !(error instanceof ApiFailure) || error.status >= 500

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 2 && isWorthRepeating(error),
    },
  },
})

export const router = createRouter({
  basepath: '/console',
  routeTree: rootRoute.addChildren(pages),
  context: { queries },
  defaultPreload: 'intent',
  defaultNotFoundComponent: Missing,
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
