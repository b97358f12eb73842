import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

export const collectionRoutes = [
  createRoute({
    getParentRoute,
    path: '/collections',
    component: lazyRouteComponent(() => import('./collections-page.tsx'), 'CollectionsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/collections/$collection',
    component: lazyRouteComponent(() => import('./collection-page.tsx'), 'CollectionPage'),
  }),
] as const
