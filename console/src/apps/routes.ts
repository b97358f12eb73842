import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

export const appRoutes = [
  createRoute({
    getParentRoute,
    path: '/apps',
    component: lazyRouteComponent(() => import('./apps-page.tsx'), 'AppsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/apps/$provider',
    component: lazyRouteComponent(() => import('./app-page.tsx'), 'AppPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/apps/drafts/$draft',
    component: lazyRouteComponent(() => import('./draft-page.tsx'), 'DraftPage'),
  }),
] as const
