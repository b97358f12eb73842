import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

export const productRoutes = [
  createRoute({
    getParentRoute,
    path: '/products',
    component: lazyRouteComponent(() => import('./products-page.tsx'), 'ProductsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/products/$product',
    component: lazyRouteComponent(() => import('./product-page.tsx'), 'ProductPage'),
  }),
] as const
