// What pages have from elsewhere: scripts of third parties, and the model that a script of the book brings.
declare var mermaid: any;
declare var courseModel: any;
declare module "*.css";
declare module "anywidget";
declare module "mermaid/*";
