import { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { ApiFailure } from './api/failure.ts'
import { appRoutes } from './apps/routes.ts'
import { collectionRoutes } from './collections/routes.ts'
import { customerRoutes } from './customers/routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { endpointRoutes } from './endpoints/routes.ts'
import { importRoutes } from './imports/routes.ts'
import { operatorRoutes } from './operators/routes.ts'
import { orderRoutes } from './orders/routes.ts'
import { overviewRoute } from './overview/routes.ts'
import type { Search } from './parts/filters.tsx'
import { Missing } from './parts/missing.tsx'
import { productRoutes } from './products/routes.ts'
import { rootRoute } from './root-route.ts'

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
  routeTree: rootRoute.addChildren([
    overviewRoute,
    ...productRoutes,
    ...collectionRoutes,
    ...customerRoutes,
    ...orderRoutes,
    ...importRoutes,
    ...deliveryRoutes,
    ...endpointRoutes,
    ...appRoutes,
    ...operatorRoutes,
  ]),
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
