/** Style sheets that the build puts into the scripts as text. */
declare module "*.css" {
  const text: string;
  export default text;
}
