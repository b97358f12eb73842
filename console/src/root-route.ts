import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext } from '@tanstack/react-router'
import { Root } from './session/root.tsx'

/** The route above all pages. */
export const rootRoute = createRootRouteWithContext<{ readonly queries: QueryClient }>()({ component: Root })
